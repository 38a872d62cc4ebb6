// The run against the median of earlier ones: what is slower or faster by more than those differ among each other.
import { element } from "./dom.js";
import { type Baseline, type BaselineItem, type Change, duration, moment } from "./report_model.js";
import { type Column, sortableTable } from "./report_table.js";

type Choose = (id: number, attempt: number) => void;

/** "412.0 s → 569.0 s" */
function both(change: Change | undefined): string {
    return change ? `${duration(change.median)} → ${duration(change.now)}` : "–";
}

const ratio = (change: Change | undefined): number => change && change.median > 0 ? change.now / change.median - 1 : 0;

function percentOf(change: Change | undefined): string {
    if (!change || change.median <= 0) return "–";
    return `${ratio(change) < 0 ? "−" : "+"}${Math.abs(100 * ratio(change)).toFixed(0)} %`;
}

function compared(title: string, pick: (item: BaselineItem) => Change | undefined): Column<BaselineItem>[] {
    return [
        { title, text: (item) => both(pick(item)), number: (item) => (pick(item)?.now ?? 0) - (pick(item)?.median ?? 0) },
        { title: "change", text: (item) => percentOf(pick(item)), number: (item) => ratio(pick(item)) },
        { title: "z", text: (item) => pick(item)?.z.toFixed(1) ?? "–", number: (item) => pick(item)?.z ?? 0 },
    ];
}

const columns: Column<BaselineItem>[] = [
    { title: "stage", text: (item) => item.stage === undefined ? "–" : `${item.stage}.${item.attempt}`, number: (item) => item.stage ?? -1 },
    { title: "query", text: (item) => item.sql === undefined ? "–" : String(item.sql), number: (item) => item.sql ?? -1 },
    { title: "kind", text: (item) => item.kind },
    { title: "name", text: (item) => item.name ?? "", wide: true },
    { title: "verdict", text: (item) => item.verdict },
    ...compared("took", (item) => item.wall_ms),
    ...compared("core time", (item) => item.core_ms),
    { title: "rows", text: (item) => percentOf(item.rows), number: (item) => ratio(item.rows) },
    { title: "runs", text: (item) => String(item.runs), number: (item) => item.runs },
    { title: "because", text: (item) => item.reason, wide: true },
];

/** One sentence on the whole. */
function verdict(baseline: Baseline): string {
    const whole = baseline.items[0]!, slower = baseline.items.filter((item) => item.verdict === "slower").length;
    const runs = `${baseline.runs.length} earlier run${baseline.runs.length === 1 ? "" : "s"}`;
    const took = whole.wall_ms ? `took ${duration(whole.wall_ms.now)}, the median of ${runs} ${duration(whole.wall_ms.median)} (${percentOf(whole.wall_ms)})` : `is compared with ${runs}`;
    const found = slower === 0 ? `Nothing is more than ${(100 * baseline.share).toFixed(0)} % slower and beyond the noise of those` : `${slower} of the application, its queries, stages and methods are slower by more than those differ among each other`;
    return `This run ${took}. ${found}.`;
}

export function baselineParts(baseline: Baseline, choose: Choose): Node[] {
    const changed = baseline.items.filter((item) => item.verdict === "slower" || item.verdict === "faster");
    const plans = baseline.items.filter((item) => item.plan_changed);
    const pick = (item: BaselineItem): void => { if (item.stage !== undefined) choose(item.stage, item.attempt!); };
    return [
        element("p", { id: "baseline-verdict" }, verdict(baseline)),
        changed.length === 0 ? null : sortableTable("baseline-table", "What changed", columns, changed, pick),
        plans.length === 0 ? null : element("p", { id: "baseline-plans" }, `Plans that no earlier run has: ${plans.map((item) => `query ${item.sql} (${item.name ?? ""})`).join(", ")}.`),
        element("details", {}, element("summary", {}, "All queries and stages"), sortableTable("baseline-all", "All queries and stages", columns, baseline.items, pick)),
        element("p", { class: "label" }, `Earlier runs: ${baseline.runs.map((run) => `${run.id ?? "?"} (${moment(run.start_ms)})`).join(", ")}.`),
    ].filter((part) => part !== null);
}
