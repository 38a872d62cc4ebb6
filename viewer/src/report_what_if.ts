// What the run would have taken with other executors or cores, chosen by sliders, and its critical path.
import { element } from "./dom.js";
import { duration, type Report, type Stage, type WhatIf, type WhatIfPoint } from "./report_model.js";

const LONG_STEPS = 12;

const change = (now: number, before: number): string => `${now >= before ? "+" : "−"}${Math.abs(before > 0 ? 100 * (now / before - 1) : 0).toFixed(0)} %`;
const many = (count: number, what: string): string => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
const setup = (point: WhatIfPoint): string => `${many(point.executors, "executor")} of ${many(point.cores, "core")}`;

/** A slider over simulated runs, and what the chosen one takes. */
function slider(id: string, label: string, points: WhatIfPoint[], whatIf: WhatIf): HTMLElement | null {
    const own = points.findIndex((point) => point.executors === whatIf.executors && point.cores === whatIf.cores);
    if (points.length < 2 || own < 0) return null;
    const input = element("input", { type: "range", id, min: 0, max: points.length - 1, step: 1, value: own, list: `${id}-marks` });
    const result = element("output", { for: id });
    const show = (): void => {
        const point = points[Number(input.value)]!, base = points[own]!;
        const text = `${setup(point)}: ${duration(point.ms)}, ${duration(point.core_ms)} of cores`;
        result.textContent = point === base ? `${text} (as it ran, simulated)` : `${text} (${change(point.ms, base.ms)} time, ${change(point.core_ms, base.core_ms)} cores)`;
        input.setAttribute("aria-valuetext", text);
    };
    input.addEventListener("input", show);
    show();
    return element("div", { class: "what-if" }, element("label", { for: id }, label), input, result,
                   element("datalist", { id: `${id}-marks` }, element("option", { value: own })));
}

function criticalPath(whatIf: WhatIf, stages: Stage[], choose: (id: number, attempt: number) => void): HTMLElement | null {
    const steps = whatIf.critical_path ?? [];
    if (steps.length === 0) return null;
    const longest = [...steps].sort((a, b) => b.ms - a.ms).slice(0, LONG_STEPS);
    const items = steps.filter((step) => longest.includes(step)).map((step) => {
        const stage = stages.find(({ id, attempt }) => id === step.stage && attempt === step.attempt);
        const wait = step.wait_ms > 0 ? `, after a wait of ${duration(step.wait_ms)}` : "";
        return element("li", {}, element("button", { type: "button", class: "link", click: () => choose(step.stage, step.attempt) }, `stage ${step.stage}`),
                       ` ${stage?.title ?? stage?.name ?? ""}: ${duration(step.ms)}${wait}`);
    });
    const rest = steps.length - items.length;
    return element("details", {}, element("summary", {}, "Critical path: what no number of cores makes shorter"), element("ol", {}, ...items),
                   rest > 0 ? element("p", { class: "label" }, `and ${many(rest, "shorter step")}`) : null);
}

/** Null where executors or tasks are not known. */
export function whatIfParts(report: Report, choose: (id: number, attempt: number) => void): Node[] | null {
    const whatIf = report.what_if;
    if (!whatIf) return null;
    const facts: [string, number | undefined][] = [["took", whatIf.actual_ms], ["driver only", whatIf.driver_ms], ["ideally balanced", whatIf.ideal_ms], ["critical path", whatIf.critical_ms]];
    const known = facts.filter((fact): fact is [string, number] => fact[1] !== undefined);
    const error = `${(100 * Math.abs(whatIf.error)).toFixed(1)} %`;
    return [
        element("dl", { class: "facts" }, ...known.map(([name, ms]) => element("div", {}, element("dt", {}, name), element("dd", {}, duration(ms))))),
        ...[slider("what-if-executors", "Executors", whatIf.by_executors ?? [], whatIf), slider("what-if-cores", "Cores of each", whatIf.by_cores ?? [], whatIf),
            criticalPath(whatIf, report.stages, choose)].filter((part) => part !== null),
        element("p", { class: "label" }, whatIf.is_reliable ? `The simulation keeps skew and order of the tasks; it predicts this very run with an error of ${error}.`
            : `The simulation misses this very run by ${error}, so it is not used for others.`),
    ];
}
