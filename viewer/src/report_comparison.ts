// Two runs side by side: the stages that are the same, and all samples as a difference flame graph.
import { element } from "./dom.js";
import type { ProfileStore } from "./report_flame.js";
import { bytes, type ComparedSide, type Comparison, duration, moment, type Report, span } from "./report_model.js";
import { type Column, sortableTable } from "./report_table.js";

type Pick = (side: ComparedSide) => number;

/** "12.3 s → 4.5 s"; sorts by how much it changed. */
function compared(title: string, pick: Pick, format: (value: number) => string): Column<Comparison> {
    const text = (side: ComparedSide | null): string => (side === null ? "–" : format(pick(side)));
    return { title, text: (row) => `${text(row.before)} → ${text(row.after)}`, number: (row) => (row.after ? pick(row.after) : 0) - (row.before ? pick(row.before) : 0) };
}

function change(row: Comparison): number {
    const before = row.before?.took_ms ?? 0, after = row.after?.took_ms ?? 0;
    return before > 0 && after > 0 ? after / before - 1 : 0;
}

const idOf = (id: number | null, attempt: number | null): string => (id === null ? "–" : `${id}.${attempt}`);

const COLUMNS: Column<Comparison>[] = [
    { title: "stage", text: (row) => idOf(row.stage, row.attempt), number: (row) => row.stage ?? 1e9 },
    { title: "other run's", text: (row) => idOf(row.against_stage, row.against_attempt), number: (row) => row.against_stage ?? 1e9 },
    { title: "name", text: (row) => row.name ?? "", wide: true },
    compared("took", (side) => side.took_ms ?? -1, duration),
    { title: "change", text: (row) => (row.before && row.after ? `${change(row) >= 0 ? "+" : "−"}${Math.abs(100 * change(row)).toFixed(0)} %` : row.after ? "new" : "gone"), number: change },
    compared("median", (side) => side.task_median_ms, duration),
    compared("slowest", (side) => side.task_max_ms, duration),
    compared("CPU", (side) => side.cpu_ns / 1e6, duration),
    compared("GC", (side) => side.gc_ms, duration),
    compared("shuffled", (side) => side.shuffle_remote_bytes + side.shuffle_local_bytes, bytes),
    compared("spilled", (side) => side.disk_spilled_bytes, bytes),
];

export function comparisonParts(report: Report, store: ProfileStore, choose: (id: number, attempt: number) => void): Node[] {
    const other = report.against!, { application } = report;
    const parts: Node[] = [
        element("p", {}, `${other.name ?? other.id ?? "another run"} (${other.id ?? "–"}, ${moment(other.start_ms)}) took ${duration(span(other.start_ms, other.end_ms))}, ` +
            `this run ${duration(span(application.start_ms, application.end_ms))}.`),
        sortableTable("comparison-table", "Stages of both runs", COLUMNS, report.comparison!, (row) => row.stage !== null && choose(row.stage, row.attempt!)),
    ];
    if (store.isThere) parts.push(differenceOf(store));
    return parts;
}

/** The difference of all samples, shown when it is asked for. */
function differenceOf(store: ProfileStore): HTMLElement {
    const place = element("div", { id: "difference" });
    const open = async (): Promise<void> => {
        const both = await store.comparison();
        const container = element("div", { class: "viewer" });
        place.replaceChildren(both ? container : element("p", {}, "Only one of the runs has samples."));
        if (both) store.show(container, { ...both, meta: { ...both.meta, title: "All samples of both runs", sides: ["other run", "this run"] } }, { color: "change" });
        place.dataset["ready"] = "1";
    };
    place.append(element("button", { type: "button", class: "choice", click: () => void open() }, "Difference flame graph of all samples"));
    return place;
}
