// What the report advises: what to do first, and the findings, those of one cause once.
import { element } from "./dom.js";
import { type Advice, duration, type Report } from "./report_model.js";
import { showQuery } from "./report_sql.js";

const OPEN_ADVICE = 12, SIMILAR_ITEMS = 10;
/** What saves less is nothing to do first; as in the text form. */
const FIRST_MIN_SECONDS = 1;

type Choose = (id: number, attempt: number) => void;

/** "; saves 12 s, 3 min of core time"; null if the rule does not know. */
function savings(item: Advice): HTMLElement | null {
    const parts = [item.saved_wall_ms > 0 ? duration(item.saved_wall_ms) : "", item.saved_core_ms > 0 ? `${duration(item.saved_core_ms)} of core time` : ""].filter((part) => part !== "");
    return parts.length === 0 ? null
        : element("span", { class: "savings", title: item.how }, `; saves ${parts.join(", ")} (certainty: ${item.certainty})`);
}

const link = (text: string, click: () => void): HTMLElement => element("button", { type: "button", class: "link", click }, text);

function stageLink(item: Advice, choose: Choose): HTMLElement {
    return link(`stage ${item.stage!}`, () => choose(item.stage!, item.attempt ?? 0));
}

function queryLink(sql: number, text: string): HTMLElement {
    return link(text, () => showQuery(sql));
}

/** The finding, with its stage or query as a link; a query also with its line of code or its description. */
function finding(report: Report, item: Advice, choose: Choose): (Node | string)[] {
    if (item.sql === undefined) return item.stage === undefined ? [item.finding] : [stageLink(item, choose), ` ${item.finding}`];
    const query = report.sql.find((one) => one.id === item.sql), title = query?.title ?? query?.description;
    const name = [`query ${item.sql}`, `SQL execution ${item.sql}`].find((one) => item.finding.includes(`${one} `)) ?? "";
    const at = item.finding.indexOf(name);
    return [item.finding.slice(0, at), queryLink(item.sql, name === "" ? `query ${item.sql} ` : name), title ? ` (${title})` : "", item.finding.slice(at + name.length)];
}

/** "the same: stage 4, stage 18" */
function similar(report: Report, first: number, choose: Choose): HTMLElement | null {
    const others = report.advice.filter((item, i) => i !== first && item.group === first);
    if (others.length === 0) return null;
    const shown = others.slice(0, SIMILAR_ITEMS).flatMap((item) => [", ", item.stage !== undefined ? stageLink(item, choose)
        : item.sql !== undefined ? queryLink(item.sql, `query ${item.sql}`) : item.place ?? item.finding]);
    const rest = others.length - SIMILAR_ITEMS;
    return element("p", { class: "label" }, "the same: ", ...shown.slice(1), rest > 0 ? ` and ${rest} more` : "");
}

/** The line that answers what is slow, and what to do; null where no task is known. */
export function firstAdvice(report: Report, choose: Choose): HTMLElement | null {
    const first = report.advice[0];
    if (report.tasks.id.length === 0 && !first) return null;
    const title = element("strong", {}, "Do this first: ");
    if (!first || first.severity < FIRST_MIN_SECONDS) return element("p", { id: "first" }, title, "nothing; no rule found anything that would save a second");
    return element("p", { id: "first" }, title, element("span", { class: "rule" }, first.rule), ...finding(report, first, choose), ". ",
        element("strong", {}, "What to do: "), first.remedy, savings(first));
}

export function adviceItems(report: Report, choose: Choose): Node[] {
    const items = report.advice.flatMap((item, i) => item.group !== i ? [] : [element("li", {}, element("span", { class: "rule" }, item.rule),
        element("span", {}, ...finding(report, item, choose)), element("p", { class: "label" }, item.remedy, savings(item)), similar(report, i, choose))]);
    const rest = items.slice(OPEN_ADVICE);
    return [element("ol", {}, ...items.slice(0, OPEN_ADVICE)), ...(rest.length === 0 ? []
        : [element("details", {}, element("summary", {}, `${rest.length} more`), element("ol", { start: OPEN_ADVICE + 1 }, ...rest))])];
}
