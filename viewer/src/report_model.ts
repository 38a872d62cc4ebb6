// The data of a report (docs/REPORT.md), and how its numbers are written.

export interface Stage {
    id: number; attempt: number; job: number; status: string; name: string | null; title: string | null; tasks: number; succeeded: number; failed: number;
    killed: number; submitted_ms: number | null; completed_ms: number | null; failure: string | null; task_median_ms: number;
    task_p95_ms: number; task_max_ms: number; run_ms: number; cpu_ns: number; gc_ms: number; shuffle_fetch_wait_ms: number;
    shuffle_remote_bytes: number; shuffle_local_bytes: number; shuffle_write_bytes: number; disk_spilled_bytes: number;
    input_bytes: number; output_bytes: number; deserialize_ms: number; result_serialization_ms: number;
}

export interface Job {
    id: number; status: string; name: string | null; description: string | null; submitted_ms: number | null;
    completed_ms: number | null; exception: string | null; stages: number[]; tasks: number; succeeded: number; skipped: number; failed: number;
}

export interface Executor {
    id: string; host: string | null; cores: number; added_ms: number | null; removed_ms: number | null; removed_reason: string | null;
}

export interface LogError {
    level: string; cause: string | null; logger: string | null; message: string | null; more: string | null; count: number;
    log_count: number; first_ms: number | null; last_ms: number | null; path: string; container: string | null; line: number;
    stage: number | null; stage_attempt: number | null; task: number | null;
}

export interface Advice {
    rule: string; stage?: number; attempt?: number; sql?: number; place?: string; finding: string; remedy: string;
    saved_wall_ms: number; saved_core_ms: number; how: string; certainty: string; severity: number;
    /** Number of the first finding of the same cause; that of a first one is its own. */
    group: number;
}

/** A simulated run. */
export interface WhatIfPoint { executors: number; cores: number; ms: number; core_ms: number }

export interface WhatIf {
    actual_ms: number; error: number; is_reliable: boolean; driver_ms: number; ideal_ms: number; executors: number; cores: number; critical_ms?: number;
    critical_path?: { stage: number; attempt: number; wait_ms: number; ms: number }[]; by_executors?: WhatIfPoint[]; by_cores?: WhatIfPoint[];
}

/** A number of a process over time, in the same unit whoever recorded it. */
export interface Curve { curve: string; unit: string; process: string | null; role: string | null; points: [number, number][] }

export interface ComparedSide {
    took_ms: number | null; tasks: number; failed: number; task_median_ms: number; task_max_ms: number; run_ms: number; cpu_ns: number; gc_ms: number;
    shuffle_remote_bytes: number; shuffle_local_bytes: number; disk_spilled_bytes: number; input_bytes: number;
}

/** A stage of this run ("after") and the one of the other run ("before") that is the same. */
export interface Comparison {
    stage: number | null; attempt: number | null; against_stage: number | null; against_attempt: number | null; name: string | null;
    before: ComparedSide | null; after: ComparedSide | null;
}

/** A measure of this run ("now") and of earlier ones; `z` is the distance in spreads. */
export interface Change { now: number; median: number; spread: number; z: number; runs: number; verdict: string }

export interface BaselineItem {
    kind: string; stage?: number; attempt?: number; sql?: number; name: string | null; verdict: string; plan_changed?: boolean; reason: string; runs: number;
    wall_ms?: Change; core_ms?: Change; bytes?: Change; rows?: Change;
}

/** The first item is the application. */
export interface Baseline { share: number; runs: { id: string | null; name: string | null; start_ms: number | null }[]; items: BaselineItem[] }

/** A node of a SQL plan; `parent` is its number in the list, `code` finds its generated methods. */
/** A counter of an operator: its total (null: a sum is meaningless), and its distribution over tasks, if known. */
export interface OperatorMetric {
    name: string; unit: string; value: number | null; tasks?: number; least?: number; median?: number; most?: number; most_task?: number;
}

export interface Operator {
    name: string | null; detail: string | null; parent: number | null; code: string | null; metrics: OperatorMetric[]; stages: number[];
}

export interface Query {
    id: number; description: string | null; title: string | null; start_ms: number | null; end_ms: number | null; error: string | null; plan: string | null;
    plan_updates: number; operators: Operator[]; subquery_metrics: OperatorMetric[];
}

/** In which operators the samples of a stage were; null is outside of generated code. */
export interface StageOperators { stage: number; attempt: number; sql: number; operators: { operator: number | null; samples: number }[] }

export interface TaskColumns {
    id: Float64Array; stage: Int32Array; executor: Int32Array; index: Int32Array; attempt: Int32Array; status: Int32Array;
    launch_ms: Float64Array; duration_ms: Float64Array; run_ms: Float64Array; cpu_ns: Float64Array; gc_ms: Float64Array; wait_ms: Float64Array;
    spilled_bytes: Float64Array; input_bytes: Float64Array; shuffle_bytes: Float64Array;
}

export interface TimeSpent {
    cpu_ms: number; python_ms: number; gc_ms: number; shuffle_wait_ms: number; shuffle_write_ms: number; other_ms: number;
    deserialize_ms: number; result_ms: number; scheduling_ms: number; lost_ms: number; running_ms: number; reserved_ms: number; idle_driver_ms: number; idle_pending_ms: number; idle_tail_ms: number;
    core_ms: number; idle_ms: number;
}

export interface Report {
    time_spent: TimeSpent;
    /** Absent if executors or tasks are not known. */
    what_if?: WhatIf;
    application: { id: string | null; name: string | null; user: string | null; spark_version: string | null;
                   java_version: string | null; start_ms: number | null; end_ms: number | null };
    executors: Executor[]; jobs: Job[]; stages: Stage[]; advice: Advice[]; tasks: TaskColumns;
    /** The page is written anew while the application runs, and reads itself again after so many seconds. */
    refresh_seconds?: number;
    sql: Query[]; operators?: StageOperators[]; curves?: Curve[]; comparison?: Comparison[]; baseline?: Baseline;
    against?: { id: string | null; name: string | null; start_ms: number | null; end_ms: number | null }; errors?: LogError[]; chunks?: { count: number; lines: string[] }[]; logs?: { path: string }[];
}

export const TASK_STATUS = ["running", "succeeded", "failed", "killed"];

/** "850 ms", "12.3 s", "4.5 min", "2.1 h" */
export function duration(ms: number | null): string {
    if (ms === null || ms < 0) return "–";
    if (ms < 1000) return `${Math.round(ms)} ms`;
    if (ms < 120_000) return `${(ms / 1000).toFixed(1)} s`;
    if (ms < 7_200_000) return `${(ms / 60_000).toFixed(1)} min`;
    return `${(ms / 3_600_000).toFixed(1)} h`;
}

export function bytes(count: number): string {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    if (count <= 0) return "–";
    for (; count >= 1024 && unit < units.length - 1; unit++) count /= 1024;
    return unit === 0 ? `${count} B` : `${count.toFixed(1)} ${units[unit]}`;
}

export function moment(ms: number | null): string {
    return ms === null || !Number.isFinite(ms) ? "–" : new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
}

export function percent(part: number, whole: number): string {
    return whole > 0 ? `${(100 * part / whole).toFixed(0)} %` : "–";
}

export function span(start: number | null, end: number | null): number | null {
    return start === null || end === null || end < start ? null : end - start;
}

/** First and last moment of anything that the report tells. */
export function extent(report: Report): [number, number] {
    let first = report.application.start_ms ?? Infinity;
    let last = report.application.end_ms ?? -Infinity;
    const { launch_ms: launch, duration_ms: took } = report.tasks;
    for (let i = 0; i < launch.length; i++) {
        if (launch[i]! < 0) continue;
        first = Math.min(first, launch[i]!);
        last = Math.max(last, launch[i]! + Math.max(took[i]!, 0));
    }
    if (!Number.isFinite(first) || !Number.isFinite(last)) {
        for (const { points } of report.curves ?? []) {
            first = Math.min(first, points[0]![0]);
            last = Math.max(last, points[points.length - 1]![0]);
        }
    }
    if (!Number.isFinite(first) || !Number.isFinite(last)) return [0, 1];
    return last > first ? [first, last] : [first, first + 1];
}

/** Where the time of the executors' cores went, as shares of one whole. */
export function timeSpent(report: Report): [string, number][] {
    const spent = report.time_spent;
    const parts: [string, number][] = [
        ["on the CPU", spent.cpu_ms], ["Python workers on the CPU", spent.python_ms], ["garbage collection", spent.gc_ms],
        ["waiting for shuffle data", spent.shuffle_wait_ms], ["writing shuffle data", spent.shuffle_write_ms],
        ["waiting for something else", spent.other_ms], ["deserializing the task's code", spent.deserialize_ms],
        ["serializing and fetching results", spent.result_ms], ["scheduling", spent.scheduling_ms],
        ["failed and killed attempts", spent.lost_ms], ["tasks that have not ended", spent.running_ms], ["reserved by spark.task.cpus", spent.reserved_ms], ["idle, no task there: driver only", spent.idle_driver_ms],
        ["idle, tasks waited to start", spent.idle_pending_ms], ["idle, too few tasks left", spent.idle_tail_ms],
    ];
    return parts.filter(([, ms]) => ms > 0);
}
