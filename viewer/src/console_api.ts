// What the console asks the collector for.

export interface Group {
    group: string;
    applications: number;
    recordings: number;
    bytes: number;
    first_ms: number;
    last_ms: number;
    /** Of the group's settings. */
    price_core_hour?: number;
}

export interface Application extends Group {
    application: string;
    attempt: string;
    executors: number;
}

export interface Step {
    time_ms: number;
    recordings: number;
    bytes: number;
    executors: number;
}

export interface Series {
    from_ms: number;
    to_ms: number;
    step_ms: number;
    series: Step[];
}

export interface Label {
    name: string;
    values: string[];
}

interface Weights {
    event: string;
    unit: "samples" | "bytes" | "ns";
    /** What one unit is of time; 0: it is not time. */
    ns_per_unit: number;
    total: number;
}

export interface MethodRow {
    method: string;
    self: number;
    total: number;
}

export interface Methods extends Weights {
    found: number;
    methods: MethodRow[];
}

export interface Neighbour {
    method: string;
    weight: number;
}

export interface MethodApplication {
    application: string;
    self: number;
    total: number;
    all: number;
}

export interface Method extends Weights {
    method: string;
    self: number;
    method_total: number;
    /** Without a caller. */
    outermost: number;
    callers: Neighbour[];
    callees: Neighbour[];
    applications: MethodApplication[];
}

export type AnyMethods = Weights;

export interface HeapStep {
    time_ms: number;
    processes: number;
    used_bytes: number;
    committed_bytes: number;
    limit_bytes: number;
    gc_ms: number;
}

export interface HeapProcess {
    application: string;
    attempt: string;
    executor: string;
    peak_bytes: number;
    limit_bytes: number;
    gc_ms: number;
    points: { time_ms: number; used_bytes: number; committed_bytes: number; gc_ms: number }[];
}

export interface HeapType {
    type: string;
    allocated_bytes: number;
    live_bytes: number;
    points: { time_ms: number; allocated_bytes: number; live_bytes: number }[];
}

export interface Heap {
    step_ms: number;
    skipped: number;
    process_count: number;
    processes: HeapProcess[];
    type_count: number;
    types: HeapType[];
    total: HeapStep[];
}

export interface Run {
    application: string;
    attempt: string;
    first_ms: number;
    last_ms: number;
    executors: number;
    recordings: number;
    skipped: number;
    cpu_ms: number;
    wall_ms: number;
    alloc_bytes: number;
}

export interface Change {
    of: "run" | "method";
    measure: "cpu_ms" | "alloc_bytes";
    method: string;
    verdict: "same" | "more" | "less" | "unknown";
    is_regression: boolean;
    now: number;
    median: number;
    runs: number;
    run_now: number;
    run_median: number;
}

export interface Regression {
    verdict: "regression" | "none" | "unknown";
    days: number;
    group: string;
    name: string;
    run: Run;
    earlier: Run[];
    changes: Change[];
}

/** The JSON of a path; throws an Error with what the collector says is wrong. */
export async function ask<Answer>(path: string): Promise<Answer> {
    const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as Answer;
    let reason = `status ${answer.status}`;
    try {
        reason = (JSON.parse(text) as { error: string }).error;
    } catch {
        // A proxy's own page.
    }
    throw new Error(reason);
}
