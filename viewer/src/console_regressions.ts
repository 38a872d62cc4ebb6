// What was found when applications had ended, and one application against its earlier runs.
import type { Change, Regression, Run } from "./console_api.js";
import type { ConsoleState } from "./console_state.js";
import { element } from "./dom.js";
import { formatCount, formatShare, formatValue } from "./numbers.js";
import { type Column, sortableTable } from "./report_table.js";

type Go = (change: Partial<ConsoleState>) => void;

const time = (ms: number): string => new Date(ms).toLocaleString();
const duration = (run: Run): string => formatValue((run.last_ms - run.first_ms) * 1e6, "nanoseconds");
const nameOf = (run: Run): string => run.attempt === "" ? run.application : `${run.application}_${run.attempt}`;

export function size(value: number, measure: Change["measure"]): string {
    if (value === 0) return "–";
    return measure === "cpu_ms" ? formatValue(value * 1e6, "nanoseconds") : formatValue(value, "bytes");
}

/** "3.00 times as much" or "24 % more" */
export function growth(now: number, median: number): string {
    if (!(median > 0)) return now > 0 ? "new" : "–";
    const times = now / median;
    return times >= 2 ? `${times.toFixed(2)} times as much` : `${Math.abs(100 * (times - 1)).toFixed(0)} % ${times >= 1 ? "more" : "less"}`;
}

/** The same in short: "× 3.00" or "+24 %" */
export function change(now: number, median: number): string {
    if (!(median > 0)) return now > 0 ? "new" : "–";
    const times = now / median;
    return times >= 2 ? `× ${times.toFixed(2)}` : `${times >= 1 ? "+" : "−"}${Math.abs(100 * (times - 1)).toFixed(0)} %`;
}

function whole(found: Regression, measure: Change["measure"]): Change | undefined {
    return found.changes.find((change) => change.of === "run" && change.measure === measure);
}

/** One sentence about it. */
export function sentence(found: Regression): string {
    if (found.earlier.length === 0) {
        return found.name === "" ? "Nothing to compare with: its recordings have no label application_name, by which runs of a job are known, and it has sent for less than two days."
            : `Nothing to compare with: no run of ${found.name} in the ${found.days} days before.`;
    }
    const runs = `${found.earlier.length === 1 ? "the run" : `the median of ${found.earlier.length} runs`} before`;
    const worst = found.changes.filter((change) => change.is_regression && change.of === "run");
    if (worst.length > 0)
        return worst.map((change) => `${change.measure === "cpu_ms" ? "CPU time" : "Allocation"}: ${growth(change.now, change.median)} than ${runs}`.replace("as much than", "as much as")).join("; ") + ".";
    const methods = found.changes.filter((change) => change.is_regression).length;
    if (methods > 0) return `As a whole it is like ${runs}, but ${methods === 1 ? "one method takes" : `${methods} methods take`} more.`;
    return found.verdict === "unknown" ? "The runs before recorded nothing that can be compared." : `No more than ${runs}, as far as these differ among each other.`;
}

export class RegressionsPanel {
    readonly node = element("div", { id: "regressions", class: "panel" });

    constructor(private readonly go: Go) {}

    showList(found: { regressions: Regression[]; checked: number }): void {
        const columns: Column<Regression>[] = [
            { title: "application", text: (row) => nameOf(row.run), wide: true, node: (row) => element("button", { type: "button", class: "link",
                click: () => this.go({ application: row.run.application, attempt: row.run.attempt }) }, nameOf(row.run)) },
            { title: "name", text: (row) => row.name }, { title: "last recording", text: (row) => time(row.run.last_ms), number: (row) => row.run.last_ms },
            { title: "CPU time", text: (row) => size(row.run.cpu_ms, "cpu_ms"), number: (row) => row.run.cpu_ms },
            { title: "against the median", text: (row) => change(row.run.cpu_ms, whole(row, "cpu_ms")?.median ?? 0), number: (row) => row.run.cpu_ms / (whole(row, "cpu_ms")?.median || 1) },
            { title: "most in", text: (row) => row.changes.find((change) => change.of === "method" && change.is_regression)?.method ?? "–", wide: true },
        ];
        this.node.replaceChildren(element("h3", {}, "Regressions"), element("p", { id: "checked", class: "label" },
            `${formatCount(found.checked)} applications were compared with their runs of the seven days before when they had ended. Choose an application to compare it now.`),
            found.regressions.length === 0 ? element("p", { id: "no-regressions" }, "None was found.") : sortableTable("regression-table", "Regressions", columns, found.regressions));
    }

    showOne(found: Regression): void {
        const [latest] = found.earlier;
        const isSelf = latest !== undefined && latest.application === found.run.application && latest.attempt === found.run.attempt;
        const compare = (): void => this.go({ view: "compare", against: isSelf ? "" : latest!.application, againstAttempt: isSelf ? "" : latest!.attempt, normalize: false,
            ...(isSelf ? { from: found.run.first_ms, to: found.run.last_ms + 1, againstFrom: latest!.first_ms, againstTo: latest!.last_ms + 1 } : { againstFrom: null, againstTo: null }) });
        const parts: HTMLElement[] = [element("div", { class: "row" },
            element("strong", { id: "verdict", class: found.verdict }, found.verdict === "regression" ? "Regression" : found.verdict === "none" ? "No regression" : "Unknown"),
            element("span", { id: "verdict-text" }, sentence(found)),
            latest === undefined ? null : element("button", { type: "button", id: "compare-flames", click: compare }, "Compare flame graphs"))];
        if (found.changes.length > 0 && found.earlier.length > 0) parts.push(this.changes(found));
        parts.push(this.runs(found));
        this.node.replaceChildren(...parts);
    }

    private changes(found: Regression): HTMLElement {
        const columns: Column<Change>[] = [
            { title: "what", text: (row) => row.of === "run" ? "the whole run" : row.method, wide: true, node: (row) => row.of === "run" ? element("b", {}, "the whole run")
                : element("button", { type: "button", class: "link", click: () => this.go({ view: "methods", method: row.method }) }, row.method) },
            { title: "measure", text: (row) => row.measure === "cpu_ms" ? "CPU time" : "allocated" },
            { title: "median before", text: (row) => size(row.median, row.measure), number: (row) => row.median },
            { title: "now", text: (row) => size(row.now, row.measure), number: (row) => row.now },
            { title: "change", text: (row) => change(row.now, row.median), number: (row) => row.median > 0 ? row.now / row.median : Infinity },
            { title: "of the run", text: (row) => row.of === "run" ? "" : `${formatShare(row.median, row.run_median)} → ${formatShare(row.now, row.run_now)}` },
            { title: "", text: (row) => row.is_regression ? "regression" : row.verdict === "more" ? "more" : row.verdict === "less" ? "less" : "" },
        ];
        return sortableTable("change-table", "What changed", columns, found.changes);
    }

    private runs(found: Regression): HTMLElement {
        const columns: Column<Run>[] = [
            { title: "run", text: nameOf, wide: true, node: (row) => row === found.run ? element("b", {}, nameOf(row)) : element("button", { type: "button", class: "link",
                click: () => this.go({ application: row.application, attempt: row.attempt }) }, nameOf(row)) },
            { title: "first recording", text: (row) => time(row.first_ms), number: (row) => row.first_ms },
            { title: "from first to last", text: duration, number: (row) => row.last_ms - row.first_ms },
            { title: "executors", text: (row) => formatCount(row.executors), number: (row) => row.executors },
            { title: "CPU time", text: (row) => size(row.cpu_ms, "cpu_ms"), number: (row) => row.cpu_ms },
            { title: "allocated", text: (row) => size(row.alloc_bytes, "alloc_bytes"), number: (row) => row.alloc_bytes },
        ];
        return sortableTable("run-table", "Runs", columns, [found.run, ...found.earlier]);
    }
}
