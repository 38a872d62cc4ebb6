// The data of a report (docs/REPORT.md), and how its numbers are written.

export interface Stage {
    id: number; attempt: number; job: number; status: string; name: string | null; tasks: number; succeeded: number; failed: number;
    killed: number; submitted_ms: number | null; completed_ms: number | null; failure: string | null; task_median_ms: number;
    task_p95_ms: number; task_max_ms: number; run_ms: number; cpu_ns: number; gc_ms: number; shuffle_fetch_wait_ms: number;
    shuffle_remote_bytes: number; shuffle_local_bytes: number; shuffle_write_bytes: number; disk_spilled_bytes: number;
    input_bytes: number; output_bytes: number; deserialize_ms: number; result_serialization_ms: number;
}

export interface Job {
    id: number; status: string; name: string | null; description: string | null; submitted_ms: number | null;
    completed_ms: number | null; exception: string | null; stages: number[]; tasks: number; failed: number;
}

export interface Executor {
    id: string; host: string | null; cores: number; added_ms: number | null; removed_ms: number | null; removed_reason: string | null;
}

export interface LogError {
    level: string; cause: string | null; logger: string | null; message: string | null; more: string | null; count: number;
    log_count: number; first_ms: number | null; last_ms: number | null; path: string; container: string | null; line: number;
    stage: number | null; stage_attempt: number | null; task: number | null;
}

export interface Advice { rule: string; stage?: number; attempt?: number; finding: string; remedy: string }

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

/** A node of a SQL plan; `parent` is its number in the list, `code` finds its generated methods. */
/** What an operator counted: in all (null: a sum means nothing), and how that is spread over tasks, where these told it. */
export interface OperatorMetric {
    name: string; unit: string; value: number | null; tasks?: number; least?: number; median?: number; most?: number; most_task?: number;
}

export interface Operator {
    name: string | null; detail: string | null; parent: number | null; code: string | null; metrics: OperatorMetric[]; stages: number[];
}

export interface Query {
    id: number; description: string | null; start_ms: number | null; end_ms: number | null; error: string | null; plan: string | null;
    plan_updates: number; operators: Operator[]; subquery_metrics: OperatorMetric[];
}

/** In which operators the samples of a stage were; null is outside of generated code. */
export interface StageOperators { stage: number; attempt: number; sql: number; operators: { operator: number | null; samples: number }[] }

export interface TaskColumns {
    id: number[]; stage: number[]; executor: number[]; index: number[]; attempt: number[]; status: number[]; launch_ms: number[];
    duration_ms: number[]; run_ms: number[]; cpu_ns: number[]; gc_ms: number[]; wait_ms: number[]; spilled_bytes: number[];
    input_bytes: number[]; shuffle_bytes: number[];
}

export interface TimeSpent {
    cpu_ms: number; python_ms: number; gc_ms: number; shuffle_wait_ms: number; shuffle_write_ms: number; other_ms: number;
    deserialize_ms: number; result_ms: number; scheduling_ms: number; core_ms: number; idle_ms: number;
}

export interface Report {
    time_spent: TimeSpent;
    application: { id: string | null; name: string | null; user: string | null; spark_version: string | null;
                   java_version: string | null; start_ms: number | null; end_ms: number | null };
    executors: Executor[]; jobs: Job[]; stages: Stage[]; advice: Advice[]; tasks: TaskColumns;
    sql: Query[]; operators?: StageOperators[]; curves?: Curve[]; comparison?: Comparison[];
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

/** Where the time of all tasks went, as shares of one whole. */
export function timeSpent(report: Report): [string, number][] {
    const spent = report.time_spent;
    const parts: [string, number][] = [
        ["on the CPU", spent.cpu_ms], ["Python workers on the CPU", spent.python_ms], ["garbage collection", spent.gc_ms],
        ["waiting for shuffle data", spent.shuffle_wait_ms], ["writing shuffle data", spent.shuffle_write_ms],
        ["waiting for something else", spent.other_ms], ["reading the task's code", spent.deserialize_ms],
        ["packing and fetching results", spent.result_ms], ["scheduling", spent.scheduling_ms],
    ];
    return parts.filter(([, ms]) => ms > 0);
}
