// Executors as a table: what their tasks did.
import type { Report } from "./report_model.js";
import { bytes, duration, percent } from "./report_model.js";
import { type ComparisonPicker, pickedExecutor } from "./report_selection.js";
import { type Column, sortableTable } from "./report_table.js";

const FAILED = 2;

interface Row { id: string; host: string | null; cores: number; tasks: number; failed: number; busy_ms: number; run_ms: number; cpu_ns: number; gc_ms: number; spilled: number; shuffled: number; lived_ms: number }

function rowsOf(report: Report): Row[] {
    const { tasks, application } = report;
    const rows = report.executors.map((executor): Row => ({
        id: executor.id, host: executor.host, cores: executor.cores, tasks: 0, failed: 0, busy_ms: 0, run_ms: 0, cpu_ns: 0, gc_ms: 0, spilled: 0, shuffled: 0,
        lived_ms: executor.added_ms === null ? 0 : Math.max(0, (executor.removed_ms ?? application.end_ms ?? executor.added_ms) - executor.added_ms),
    }));
    for (let i = 0; i < tasks.executor.length; i++) {
        const row = rows[tasks.executor[i]!];
        if (!row) continue;
        row.tasks++;
        if (tasks.status[i] === FAILED) row.failed++;
        row.busy_ms += Math.max(tasks.duration_ms[i]!, 0);
        row.run_ms += tasks.run_ms[i]!;
        row.cpu_ns += tasks.cpu_ns[i]!;
        row.gc_ms += tasks.gc_ms[i]!;
        row.spilled += tasks.spilled_bytes[i]!;
        row.shuffled += tasks.shuffle_bytes[i]!;
    }
    return rows;
}

export function executorTable(report: Report, picker: ComparisonPicker | null): HTMLElement {
    const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
    const occupied = (row: Row): number => share(row.busy_ms, row.lived_ms * row.cores);
    const columns: Column<Row>[] = [
        { title: "executor", text: (row) => row.id },
        ...(picker ? [{ title: "", text: () => "", node: (row: Row) => (row.tasks > 0 ? picker.button(() => pickedExecutor(row.id)) : null) }] : []),
        { title: "host", text: (row) => row.host ?? "–", wide: true },
        { title: "cores", text: (row) => String(row.cores), number: (row) => row.cores },
        { title: "tasks", text: (row) => row.tasks.toLocaleString("en"), number: (row) => row.tasks },
        { title: "failed", text: (row) => (row.failed === 0 ? "–" : String(row.failed)), number: (row) => row.failed },
        { title: "task time", text: (row) => duration(row.busy_ms), number: (row) => row.busy_ms },
        { title: "cores busy", text: (row) => (occupied(row) > 0 ? percent(occupied(row), 1) : "–"), number: occupied },
        { title: "CPU", text: (row) => percent(row.cpu_ns / 1e6, row.run_ms), number: (row) => share(row.cpu_ns, row.run_ms) },
        { title: "GC", text: (row) => percent(row.gc_ms, row.run_ms), number: (row) => share(row.gc_ms, row.run_ms) },
        { title: "shuffled", text: (row) => bytes(row.shuffled), number: (row) => row.shuffled },
        { title: "spilled", text: (row) => bytes(row.spilled), number: (row) => row.spilled },
    ];
    return sortableTable("executor-table", "Executors", columns, rowsOf(report));
}
