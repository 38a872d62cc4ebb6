// SQL queries: plans as pictures and as lists of operators with their counters, and the number of samples in their
// generated code.
import { element } from "./dom.js";
import { PlanPicture } from "./report_plan.js";
import { bytes, duration, type Operator, type OperatorMetric, percent, type Query, type Report, span, type StageOperators } from "./report_model.js";

const MOST_QUERIES = 100, OPEN_QUERIES = 3;
/** Operators of plans that are drawn at once. */
const OPEN_OPERATORS = 600;

/** Shows the flame graph of a stage's samples whose stacks match. */
export type ShowCode = (stage: number, pattern: string) => void;

function amount(unit: string, value: number): string {
    switch (unit) {
    case "bytes": return bytes(value);
    case "ms": return duration(value);
    case "ns": return duration(value / 1e6);
    default: return value.toLocaleString("en");
    }
}

/** "sort time 1.2 s (0.1 s, 0.2 s, 0.5 s)": the total, and the minimum, median and maximum of a task. Counts have the
 * latter as a title only. */
function count(metric: OperatorMetric): HTMLElement {
    const { unit, value, tasks = 0, least = 0, median = 0, most = 0 } = metric;
    const single = value ?? (tasks === 1 ? most : null);
    const shown = single === null ? [] : [element("b", {}, amount(unit, single))];
    const item = element("span", { class: "count" }, `${metric.name} `, ...shown);
    if (tasks < 2) return item;
    item.title = `${tasks.toLocaleString("en")} tasks: least ${amount(unit, least)}, median ${amount(unit, median)}, most ${amount(unit, most)} in task ${metric.most_task ?? "?"}`;
    if (unit !== "count") item.append(` (${[least, median, most].map((one) => amount(unit, one)).join(", ")})`);
    return item;
}

function counts(metrics: OperatorMetric[]): HTMLElement[] {
    return metrics.filter(({ value, most = 0 }) => (value ?? most) > 0).map(count);
}

/** How deep each node stands. */
function depths(query: Query): number[] {
    const found: number[] = [];
    for (const { parent } of query.operators) found.push(parent === null ? 0 : found[parent]! + 1);
    return found;
}

interface Counted { samples: number; stage: number; most: number }

/** Samples of each node over all stages of the query, and the stage that has most of them. */
function samplesOf(query: Query, all: StageOperators[]): { nodes: Map<number, Counted>; whole: number } {
    const nodes = new Map<number, Counted>();
    let whole = 0;
    for (const { stage, operators } of all.filter((one) => one.sql === query.id)) {
        for (const { operator, samples } of operators) {
            whole += samples;
            if (operator === null) continue;
            const counted = nodes.get(operator) ?? { samples: 0, stage, most: 0 };
            counted.samples += samples;
            if (samples > counted.most) [counted.most, counted.stage] = [samples, stage];
            nodes.set(operator, counted);
        }
    }
    return { nodes, whole };
}

function shareOf(node: Operator, counted: Counted | undefined, whole: number, showCode: ShowCode | null): Node[] {
    if (!counted) return [];
    const text = `${percent(counted.samples, whole)} of the samples`;
    const meter = element("meter", { min: 0, max: whole, value: counted.samples, "aria-label": text });
    const { code } = node;
    return [meter, showCode === null || code === null ? element("span", {}, text)
        : element("button", { type: "button", class: "link", title: "Flame graph of this operator", click: () => showCode(counted.stage, code) }, text)];
}

type Choose = (stage: number) => void;

/** What is known of an operator: its share, the stages that counted for it, its counters. */
function factsOf(node: Operator, counted: Counted | undefined, whole: number, choose: Choose, showCode: ShowCode | null): Node[] {
    const stages = node.stages.map((stage) => element("button", { type: "button", class: "link", click: () => choose(stage) }, `stage ${stage}`));
    return [element("span", { class: "operator" }, node.name ?? "?"), ...shareOf(node, counted, whole, showCode), ...stages, ...counts(node.metrics)];
}

function tree(query: Query, all: StageOperators[], choose: Choose, showCode: ShowCode | null): HTMLElement {
    const { nodes, whole } = samplesOf(query, all), depth = depths(query);
    const items = query.operators.map((node, i) => {
        const item = element("li", { title: node.detail }, ...factsOf(node, nodes.get(i), whole, choose, showCode));
        item.style.paddingInlineStart = `${Math.min(depth[i]!, 30) * 14}px`;
        return item;
    });
    return element("ul", { class: "plan" }, ...items);
}

function picture(query: Query, all: StageOperators[], choose: Choose, showCode: ShowCode | null): HTMLElement {
    const { nodes, whole } = samplesOf(query, all);
    const samples = new Map([...nodes].map(([operator, counted]) => [operator, counted.samples]));
    const describe = (at: number): Node[] => {
        const node = query.operators[at]!;
        return [element("p", {}, ...factsOf(node, nodes.get(at), whole, choose, showCode)), ...(node.detail && node.detail !== node.name ? [element("p", { class: "plan-detail" }, node.detail)] : [])];
    };
    return new PlanPicture(query, { samples, whole, describe }).host;
}

/** Details whose content is made when they are opened. */
function lazyDetails(title: string, make: () => Node): HTMLElement {
    const item = element("details", {}, element("summary", {}, title));
    item.addEventListener("toggle", () => item.childElementCount === 1 && item.append(make()));
    return item;
}

function queryItem(query: Query, report: Report, open: boolean, choose: Choose, showCode: ShowCode | null): HTMLElement {
    const took = duration(span(query.start_ms, query.end_ms));
    const changed = query.plan_updates === 0 ? "" : `, plan changed ${query.plan_updates} time${query.plan_updates === 1 ? "" : "s"} while it ran`;
    const item = element("details", { class: "query", id: `query-${query.id}` }, element("summary", {}, element("strong", {}, `Query ${query.id}`),
        ` ${query.description ?? ""} `, element("span", { class: "label" }, `${took}${changed}`)));
    // Plans of queries nobody opens are not built.
    let isBuilt = false;
    const build = (): void => {
        if (isBuilt || !item.open) return;
        isBuilt = true;
        if (query.error) item.append(element("pre", {}, query.error));
        const all = report.operators ?? [];
        if (query.operators.length > 0) item.append(picture(query, all, choose, showCode), lazyDetails("Operators as a list", () => tree(query, all, choose, showCode)));
        const others = counts(query.subquery_metrics);
        if (others.length > 0) item.append(element("p", { class: "plan" }, "Subqueries whose plan changed: ", ...others));
        if (query.plan) item.append(element("details", {}, element("summary", {}, "Physical plan as text"), element("pre", {}, query.plan)));
    };
    item.addEventListener("toggle", build);
    item.open = open;
    build();
    return item;
}

/** Opens a query, and scrolls to it; to all of them if it is not shown. */
export function showQuery(id: number): void {
    const item = document.getElementById(`query-${id}`);
    if (item instanceof HTMLDetailsElement) item.open = true;
    (item ?? document.getElementById("sql"))?.scrollIntoView({ block: "start" });
    item?.querySelector("summary")?.focus({ preventScroll: true });
}

export function sqlParts(report: Report, choose: Choose, showCode: ShowCode | null): Node[] {
    const longest = [...report.sql].sort((a, b) => (span(b.start_ms, b.end_ms) ?? -1) - (span(a.start_ms, a.end_ms) ?? -1));
    const rest = longest.length - MOST_QUERIES;
    let operators = 0;
    const isOpen = (query: Query, i: number): boolean => i < OPEN_QUERIES && (operators += query.operators.length) <= OPEN_OPERATORS;
    return [...longest.slice(0, MOST_QUERIES).map((query, i) => queryItem(query, report, isOpen(query, i), choose, showCode)),
            ...(rest > 0 ? [element("p", { class: "label" }, `and ${rest} shorter ones`)] : [])];
}

/** The operators that the samples of one stage were in; null if generated code does not show them. */
export function stageOperators(report: Report, id: number, attempt: number, showCode: ShowCode | null): HTMLElement | null {
    const own = report.operators?.find((one) => one.stage === id && one.attempt === attempt);
    const query = own && report.sql.find((one) => one.id === own.sql);
    if (!own || !query || own.operators.every(({ operator }) => operator === null)) return null;
    const whole = own.operators.reduce((sum, { samples }) => sum + samples, 0);
    const rows = own.operators.map(({ operator, samples }) => {
        const node = operator === null ? null : query.operators[operator]!;
        const name = node?.name ?? "outside of generated code";
        const head = node?.code && showCode
            ? element("button", { type: "button", class: "link", click: () => showCode(id, node.code!) }, name) : name;
        return element("tr", {}, element("th", { scope: "row", title: node?.detail }, head), element("td", { class: "number" }, samples.toLocaleString("en")),
            element("td", { class: "number" }, percent(samples, whole)), element("td", { class: "bar-cell" }, element("meter", { min: 0, max: whole, value: samples, "aria-label": name })));
    });
    return element("table", { id: "stage-operators" }, element("caption", {}, `Samples by operator of query ${query.id}`), element("tbody", {}, ...rows));
}
