// Memory over time: the heaps of the JVMs of what is chosen, and the classes that they allocated.
import type { Heap, HeapProcess, HeapType } from "./console_api.js";
import { type Curve, axisEnd, lines } from "./console_lines.js";
import type { ConsoleState } from "./console_state.js";
import { element } from "./dom.js";
import { formatCount, formatShare, formatValue } from "./numbers.js";
import { type Column, sortableTable } from "./report_table.js";

type Go = (change: Partial<ConsoleState>) => void;

const size = (bytes: number): string => formatValue(bytes, "bytes");
const time = (ms: number): string => new Date(ms).toLocaleString();

function spark(label: string, points: [number, number][], stepMs: number): HTMLElement {
    return element("span", {}, lines("", label, [{ name: label, kind: "used", points }], stepMs, "bytes", true));
}

export class HeapPanel {
    readonly node = element("div", { id: "heap", class: "panel" });

    constructor(private readonly go: Go) {}

    show(heap: Heap): void {
        const parts = [...this.chart(heap), ...this.processes(heap), ...this.types(heap)];
        if (heap.skipped > 0) parts.push(element("p", { class: "label" }, `${formatCount(heap.skipped)} recordings could not be read.`));
        this.node.replaceChildren(...parts.length > 0 ? parts : [element("p", { id: "no-heap" },
            "No memory was recorded: only recordings of JFR have heaps, and classes need samples of the event alloc or live (spark.sparkflame.events=cpu,alloc).")]);
    }

    private chart(heap: Heap): HTMLElement[] {
        if (heap.total.length === 0) return [];
        const wanted: [string, string, (step: Heap["total"][number]) => number][] = [["limit", "limit", (step) => step.limit_bytes],
            ["committed", "committed", (step) => step.committed_bytes], ["used", "used", (step) => step.used_bytes]];
        const curves: Curve[] = wanted.map(([name, kind, value]) => ({ name, kind, filled: kind === "used",
            points: heap.total.filter((step) => value(step) > 0).map((step): [number, number] => [step.time_ms, value(step)]) }));
        const known = curves.filter((curve) => curve.points.length > 0);
        const most = heap.total.reduce((sum, step) => Math.max(sum, step.used_bytes, step.committed_bytes, step.limit_bytes), 0);
        const peak = heap.total.reduce((sum, step) => Math.max(sum, step.used_bytes), 0);
        const first = heap.total[0]!.time_ms, last = heap.total[heap.total.length - 1]!.time_ms;
        const processes = heap.total.reduce((sum, step) => Math.max(sum, step.processes), 0);
        const label = `Heap of up to ${processes} JVMs together: at most ${size(peak)} used, ${time(first)} to ${time(last)}`;
        return [
            element("h3", {}, "Heap of all JVMs together"),
            element("div", { class: "row label" }, `at most ${size(peak)} used at a time, by up to ${formatCount(processes)} JVMs; the top is ${size(axisEnd(most, "bytes"))}`,
                element("span", { class: "space" }), ...known.map((curve) => element("span", { class: `key ${curve.kind}` }, curve.name))),
            element("div", {}, lines("heap-chart", label, known, heap.step_ms, "bytes")),
            element("div", { class: "axis label" }, element("span", {}, time(first)), element("span", {}, time(last))),
        ];
    }

    private processes(heap: Heap): HTMLElement[] {
        if (heap.processes.length === 0) return [];
        const columns: Column<HeapProcess>[] = [
            { title: "executor", text: (row) => row.executor, node: (row) => element("button", { type: "button", class: "link",
                click: () => this.go({ application: row.application, attempt: row.attempt, executor: row.executor }) }, row.executor) },
            { title: "application", text: (row) => row.attempt === "" ? row.application : `${row.application}_${row.attempt}`, wide: true },
            { title: "peak", text: (row) => size(row.peak_bytes), number: (row) => row.peak_bytes },
            { title: "limit", text: (row) => row.limit_bytes > 0 ? size(row.limit_bytes) : "–", number: (row) => row.limit_bytes },
            { title: "peak of limit", text: (row) => row.limit_bytes > 0 ? formatShare(row.peak_bytes, row.limit_bytes) : "–", number: (row) => row.limit_bytes > 0 ? row.peak_bytes / row.limit_bytes : 0 },
            { title: "collections", text: (row) => formatValue(row.gc_ms * 1e6, "nanoseconds"), number: (row) => row.gc_ms },
            { title: "used over time", text: () => "", node: (row) => spark(`heap of executor ${row.executor}`,
                row.points.map((point): [number, number] => [point.time_ms, point.used_bytes]), heap.step_ms) },
        ];
        const rest = heap.process_count - heap.processes.length;
        return [element("h3", {}, "JVMs"), sortableTable("heap-processes", "JVMs", columns, heap.processes),
            ...(rest > 0 ? [element("p", { class: "label" }, `and ${formatCount(rest)} with smaller heaps.`)] : [])];
    }

    private types(heap: Heap): HTMLElement[] {
        if (heap.types.length === 0) return [];
        const allocated = heap.types.reduce((sum, type) => sum + type.allocated_bytes, 0);
        const hasLive = heap.types.some((type) => type.live_bytes > 0);
        const columns: Column<HeapType>[] = [
            { title: "class", text: (row) => row.type, wide: true },
            { title: "allocated", text: (row) => size(row.allocated_bytes), number: (row) => row.allocated_bytes },
            { title: "share of these", text: (row) => formatShare(row.allocated_bytes, allocated), number: (row) => row.allocated_bytes },
            { title: "allocated over time", text: () => "", node: (row) => spark(`${row.type} allocated`,
                row.points.map((point): [number, number] => [point.time_ms, point.allocated_bytes]), heap.step_ms) },
        ];
        if (hasLive) columns.splice(3, 0, { title: "still alive", text: (row) => size(row.live_bytes), number: (row) => row.live_bytes });
        const rest = heap.type_count - heap.types.length;
        return [element("h3", {}, "Allocations by class"), sortableTable("heap-types", "Allocations by class", columns, heap.types),
            ...(rest > 0 ? [element("p", { class: "label" }, `and ${formatCount(rest)} with less.`)] : [])];
    }
}
