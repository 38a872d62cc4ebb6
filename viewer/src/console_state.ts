// What the console shows, as one plain value; it stands behind the # of the address, so that a link shows the same.

export type View = "flame" | "methods" | "heap" | "regressions" | "compare" | "report";

export interface ConsoleState {
    group: string;
    application: string;
    attempt: string;
    executor: string;
    /** Received in [from, to), in ms since 1970; null: open. */
    from: number | null;
    to: number | null;
    /** "name=value" */
    labels: string[];
    stage: string;
    by: string;
    view: View;
    against: string;
    againstAttempt: string;
    againstFrom: number | null;
    againstTo: number | null;
    normalize: boolean;
    /** Only stacks with a frame that matches, as a regular expression. */
    include: string;
    /** Of the hot spots: the text that is searched for, the one method whose callers are shown, and the order. */
    search: string;
    method: string;
    byTotal: boolean;
    /** What an hour of one core costs, as text; "": as the group's settings say. */
    price: string;
}

export const EMPTY_STATE: ConsoleState = {
    group: "", application: "", attempt: "", executor: "", from: null, to: null, labels: [], stage: "", by: "", view: "flame",
    against: "", againstAttempt: "", againstFrom: null, againstTo: null, normalize: false,
    include: "", search: "", method: "", byTotal: false, price: "",
};

const TEXTS = ["group", "application", "attempt", "executor", "stage", "by", "against", "againstAttempt", "include", "search", "method", "price"] as const;
const TIMES = ["from", "to", "againstFrom", "againstTo"] as const;
const VIEWS: string[] = ["flame", "methods", "heap", "regressions", "compare", "report"];

export function writeConsoleState(state: ConsoleState): string {
    const out = new URLSearchParams();
    for (const name of TEXTS) if (state[name] !== "") out.set(name, state[name]);
    for (const name of TIMES) if (state[name] !== null) out.set(name, String(state[name]));
    for (const label of state.labels) out.append("label", label);
    if (state.view !== "flame") out.set("view", state.view);
    if (state.normalize) out.set("normalize", "1");
    if (state.byTotal) out.set("byTotal", "1");
    return out.toString();
}

/** Unknown and damaged entries are skipped. */
export function readConsoleState(text: string): ConsoleState {
    const given = new URLSearchParams(text.replace(/^#/, ""));
    const state: ConsoleState = { ...EMPTY_STATE, labels: given.getAll("label").filter((label) => label.indexOf("=") > 0) };
    for (const name of TEXTS) state[name] = given.get(name) ?? "";
    for (const name of TIMES) {
        const value = given.get(name);
        if (value !== null && /^\d{1,15}$/.test(value)) state[name] = Number(value);
    }
    const view = given.get("view");
    if (view !== null && VIEWS.includes(view)) state.view = view as View;
    state.normalize = given.get("normalize") === "1";
    state.byTotal = given.get("byTotal") === "1";
    if (state.price !== "" && !(Number(state.price) >= 0)) state.price = "";
    return state;
}

/** The parameters that choose recordings. */
export function selectionOf(state: ConsoleState, withTimes = true): URLSearchParams {
    const out = new URLSearchParams({ group: state.group });
    if (state.application !== "") {
        out.set("application", state.application);
        // An empty one: the application that has no attempts.
        out.set("attempt", state.attempt);
    }
    if (state.executor !== "") out.set("executor", state.executor);
    if (withTimes && state.from !== null) out.set("from", String(state.from));
    if (withTimes && state.to !== null) out.set("to", String(state.to));
    return out;
}

/** Those, and what chooses samples of them. */
function samplesOf(state: ConsoleState): URLSearchParams {
    const query = selectionOf(state);
    for (const label of state.labels) query.append("label", label);
    if (state.stage !== "") query.set("stage", state.stage);
    if (state.include !== "") query.set("include", state.include);
    return query;
}

/** A regular expression that only this text matches. */
export function exactly(text: string): string {
    return `^${text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
}

/** What the panel of a view without a picture asks for; null: the view has a picture, or nothing to ask for yet. */
export function panelAddress(state: ConsoleState): string | null {
    if (state.view === "methods") {
        const query = samplesOf(state);
        if (state.method !== "") {
            query.set("method", state.method);
            return `/v1/method?${query}`;
        }
        query.set("limit", "100");
        if (state.search !== "") query.set("search", state.search);
        if (state.byTotal) query.set("order", "total");
        return `/v1/methods?${query}`;
    }
    if (state.view === "heap") {
        const query = selectionOf(state);
        for (const label of state.labels) query.append("label", label);
        return `/v1/heap?${query}`;
    }
    if (state.view !== "regressions") return null;
    if (state.application === "") return `/v1/regressions?${new URLSearchParams({ group: state.group })}`;
    return `/v1/regression?${new URLSearchParams({ group: state.group, application: state.application, attempt: state.attempt })}`;
}

/** The address of what the state shows, in that format. */
export function pictureAddress(state: ConsoleState, format: string): string {
    if (state.view === "report") return `/v1/report?${selectionOf(state, false)}${format === "html" ? "" : `&format=${format}`}`;
    const query = samplesOf(state);
    if (state.by !== "") query.set("by", state.by);
    if (format !== "html") query.set("format", format);
    if (state.view !== "compare") return `/v1/profile?${query}`;
    if (state.against !== "") {
        query.set("against_application", state.against);
        if (state.againstAttempt !== "") query.set("against_attempt", state.againstAttempt);
    }
    if (state.againstFrom !== null) query.set("against_from", String(state.againstFrom));
    if (state.againstTo !== null) query.set("against_to", String(state.againstTo));
    if (state.normalize) query.set("normalize", "1");
    return `/v1/difference?${query}`;
}

/** The range of the same length before the chosen one; null without a chosen one. */
export function rangeBefore(state: ConsoleState): [number, number] | null {
    if (state.from === null || state.to === null || state.to <= state.from) return null;
    return [Math.max(0, 2 * state.from - state.to), state.from];
}
