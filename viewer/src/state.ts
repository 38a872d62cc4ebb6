// What the page shows, as one plain value; it can be written behind the # of the address and read back.
import type { LabelChoice } from "./selection.js";
import type { Order } from "./tree.js";

export type Tab = "flame" | "table" | "sandwich" | "chart";

/** A stack that was taken out: the hash of its path, and the name of its last box for people. */
export interface RemovedStack {
    path: string;
    name: string;
    /** The path begins at the leaf. */
    reversed: boolean;
}

export interface State {
    tab: Tab;
    /** Name and unit of the value type; empty for the first. */
    type: string;
    /** Of a comparison: the value type of "before", if another one; empty for the same. */
    typeBefore: string;
    icicle: boolean;
    reverse: boolean;
    fold: boolean;
    order: Order;
    /** "package", "kind", "name", "change" or "label:KEY". */
    color: string;
    /** Label key, or empty. */
    group: string;
    readable: boolean;
    lines: boolean;
    search: string;
    ignoreCase: boolean;
    keep: string;
    drop: string;
    hidden: string[];
    removed: RemovedStack[];
    only: LabelChoice[];
    time: [number, number] | null;
    zoom: string;
    method: string;
    normalize: boolean;
    width: "both" | "before" | "after";
    changeOf: "total" | "self";
}

export const DEFAULT_STATE: State = {
    tab: "flame", type: "", typeBefore: "", icicle: false, reverse: false, fold: false, order: "name", color: "package", group: "",
    readable: true, lines: false, search: "", ignoreCase: false, keep: "", drop: "", hidden: [], removed: [], only: [],
    time: null, zoom: "", method: "", normalize: true, width: "both", changeOf: "total",
};

const TEXTS = ["tab", "type", "typeBefore", "order", "color", "group", "search", "keep", "drop", "zoom", "method", "width", "changeOf"] as const;
const SWITCHES = ["icicle", "reverse", "fold", "readable", "lines", "ignoreCase", "normalize"] as const;
const CHOICES: Partial<Record<(typeof TEXTS)[number], string[]>> = {
    tab: ["flame", "table", "sandwich", "chart"], order: ["name", "width"], width: ["both", "before", "after"], changeOf: ["total", "self"],
};

/** Only what differs from `base` is written. */
export function writeState(state: State, base: State): string {
    const out = new URLSearchParams();
    for (const name of TEXTS) if (state[name] !== base[name]) out.set(name, state[name]);
    for (const name of SWITCHES) if (state[name] !== base[name]) out.set(name, state[name] ? "1" : "0");
    for (const name of state.hidden) out.append("hide", name);
    for (const stack of state.removed) out.append("remove", `${stack.reversed ? "r" : "f"}${stack.path} ${stack.name}`);
    for (const choice of state.only) out.append("only", `${choice.key}:${choice.value}`);
    if (state.time) out.set("time", state.time.join("-"));
    return out.toString();
}

/** Unknown and damaged entries are skipped. */
export function readState(text: string, base: State): State {
    const given = new URLSearchParams(text.replace(/^#/, ""));
    const state: State = { ...base, hidden: [...base.hidden], removed: [...base.removed], only: [...base.only] };
    const texts = state as unknown as Record<string, string>;
    for (const name of TEXTS) {
        const value = given.get(name);
        if (value !== null && (CHOICES[name]?.includes(value) ?? true)) texts[name] = value;
    }
    for (const name of SWITCHES) {
        const value = given.get(name);
        if (value !== null) state[name] = value !== "0";
    }
    if (given.has("hide")) state.hidden = given.getAll("hide");
    if (given.has("remove")) {
        state.removed = given.getAll("remove").flatMap((entry) => {
            const match = /^([rf])([0-9a-f]{16}) (.*)$/s.exec(entry);
            return match ? [{ reversed: match[1] === "r", path: match[2]!, name: match[3]! }] : [];
        });
    }
    if (given.has("only")) {
        state.only = given.getAll("only").flatMap((entry) => {
            const colon = entry.indexOf(":");
            return colon > 0 ? [{ key: entry.slice(0, colon), value: entry.slice(colon + 1) }] : [];
        });
    }
    const time = /^(\d{1,9})-(\d{1,9})$/.exec(given.get("time") ?? "");
    if (time) state.time = [Math.min(+time[1]!, +time[2]!), Math.max(+time[1]!, +time[2]!)];
    return state;
}
