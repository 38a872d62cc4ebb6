// The controls above the picture. They show the state and ask for changes; nothing else.
import { element, select, setOptions, setPressed, toggle } from "./dom.js";
import { typeId, type Engine } from "./engine.js";
import type { State, Tab } from "./state.js";
import { DEFAULT_STATE } from "./state.js";

export type Change = (change: Partial<State>, push?: boolean) => void;

export interface ToolbarHooks {
    change: Change;
    step(forward: boolean): void;
    save(format: "svg" | "png" | "folded"): void;
    theme(): void;
    help(): void;
    notes(): void;
    hosts(): void;
}

const ORDERS: [string, string][] = [["name", "Order: name"], ["width", "Order: width"]];

export class Toolbar {
    readonly header = element("header");
    readonly controls = element("div", { class: "controls", role: "toolbar", "aria-label": "How the picture is drawn" });
    /** All controls but the tabs; a row of its own on small screens. */
    private readonly drawing = element("div", { class: "drawing" });
    readonly chips = element("div", { class: "chips", role: "group", "aria-label": "Active filters" });
    readonly search = element("input", {
        id: "search", type: "search", placeholder: "Search: regular expression   ( / )", "aria-label": "Search by regular expression",
        autocomplete: "off", spellcheck: "false",
    });
    readonly result = element("output", { id: "search-result", for: "search" });
    private readonly ignoreCase: HTMLButtonElement;
    private readonly tabs = new Map<Tab, HTMLButtonElement>();
    private readonly toggles = new Map<keyof State, HTMLButtonElement>();
    private readonly lists = new Map<keyof State, HTMLSelectElement>();
    private readonly keep: HTMLInputElement;
    private readonly drop: HTMLInputElement;

    constructor(private readonly engine: Engine, private readonly hooks: ToolbarHooks) {
        const { change } = hooks;
        this.ignoreCase = toggle("ignore-case", "Aa", "Ignore upper and lower case", (ignoreCase) => change({ ignoreCase }));
        this.search.addEventListener("input", () => change({ search: this.search.value }));
        this.search.addEventListener("keydown", (event) => {
            if (event.key === "Enter") hooks.step(!event.shiftKey);
        });
        this.keep = this.pattern("keep", "Keep only stacks with …", "Only stacks that have a frame matching this regular expression");
        this.drop = this.pattern("drop", "Exclude stacks with …", "Exclude stacks that have a frame matching this regular expression");
        this.fillHeader();
        this.fillControls();
        this.drawing.append(this.keep, this.drop);
    }

    private pattern(id: "keep" | "drop", placeholder: string, title: string): HTMLInputElement {
        const input = element("input", { id, type: "search", placeholder, title, "aria-label": title, spellcheck: "false", autocomplete: "off" });
        input.addEventListener("change", () => this.hooks.change({ [id]: input.value }, true));
        return input;
    }

    private fillHeader(): void {
        const { meta } = this.engine.profile;
        const { hooks } = this;
        const button = (id: string, text: string, title: string, act: () => void): HTMLButtonElement =>
            element("button", { id, title, type: "button", "aria-label": title, click: act }, text);
        const titles = element("div", { class: "titles" }, element("h1", { id: "title" }, meta.title));
        if (meta.subtitle) titles.append(element("span", { id: "subtitle" }, meta.subtitle));
        if (meta.notes) titles.append(button("notes", "ⓘ", "About this profile", () => hooks.notes()));
        if (meta.hosts) titles.append(button("hosts", "Hosts", "How similar the hosts are, and which of them differ", () => hooks.hosts()));
        this.header.append(
            titles,
            element("div", { class: "search", role: "search" }, this.search, this.ignoreCase,
                    button("search-previous", "‹", "Previous match (Shift+N)", () => hooks.step(false)),
                    button("search-next", "›", "Next match (N)", () => hooks.step(true)), this.result),
            element("div", { class: "tools" }, this.exportMenu(), button("theme", "◐", "Light or dark (D)", () => hooks.theme()),
                    button("help", "?", "Help and keys (?)", () => hooks.help())));
    }

    private exportMenu(): HTMLElement {
        const list = select("export", "Save what is shown", (value) => {
            list.value = "";
            if (value === "svg" || value === "png" || value === "folded") this.hooks.save(value);
        });
        setOptions(list, [["", "Save as…"], ["svg", "SVG picture"], ["png", "PNG picture"], ["folded", "Folded stacks (text)"]], "");
        return list;
    }

    private fillControls(): void {
        const { change } = this.hooks;
        const { meta, types } = this.engine.profile;
        const tabList = element("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
        const compares = meta.sides !== undefined;
        const tabs: [Tab, string][] = [["flame", "Flame graph"], ["table", compares ? "Largest changes" : "Methods"], ["sandwich", "Callers & callees"]];
        if (this.engine.hasChart) tabs.push(["chart", "Flame chart"]);
        for (const [id, text] of tabs) {
            const tab = element("button", { id: `tab-${id}`, type: "button", role: "tab", "aria-controls": `view-${id}` }, text);
            tab.addEventListener("click", () => change({ tab: id }, true));
            this.tabs.set(id, tab);
            tabList.append(tab);
        }
        tabList.addEventListener("keydown", (event) => this.walkTabs(event));
        this.controls.append(tabList, this.drawing);
        if (types.length > 1) this.list("type", compares ? `What is compared, in ${meta.sides![1]}` : "Event that determines the widths");
        if (types.length > 1 && compares) this.list("typeBefore", `What it is compared with, in ${meta.sides![0]}`);
        this.switch("icicle", "Root on top", "Draw callers above callees (I)");
        this.switch("reverse", "Reverse", "Merge from the leaves: what runs, then who called it (R)");
        this.switch("fold", "Fold recursion", "One box for a method that calls itself (F)");
        this.list("order", "Order of boxes");
        this.list("color", "Meaning of colours");
        if (meta.labels.length > 0) this.list("group", "Group by a label");
        if (this.engine.profile.frames.display.some((id) => id > 0)) {
            this.switch("readable", "Readable names", "Shorten lambdas, hidden and generated classes; off: names as recorded");
        }
        if (this.engine.profile.frames.line.some((line) => line > 0)) this.switch("lines", "Lines", "One box per source line");
        if (compares) {
            this.switch("normalize", "Normalised", "Compare shares of the whole instead of absolute values");
            this.list("width", "Which side determines the width");
            this.list("changeOf", "Which change determines the colour");
        }
    }

    private walkTabs(event: KeyboardEvent): void {
        const way = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
        const tabs = [...this.tabs.values()];
        const at = tabs.indexOf(event.target as HTMLButtonElement);
        if (way === 0 || at < 0) return;
        event.preventDefault();
        const next = tabs[(at + way + tabs.length) % tabs.length]!;
        next.focus();
        next.click();
    }

    private switch(name: "icicle" | "reverse" | "fold" | "readable" | "lines" | "normalize", text: string, title: string): void {
        const button = toggle(name, text, title, (pressed) => this.hooks.change({ [name]: pressed }, true));
        this.toggles.set(name, button);
        this.drawing.append(button);
    }

    private list(name: "type" | "typeBefore" | "order" | "color" | "group" | "width" | "changeOf", label: string): void {
        const made = select(name, label, (value) => this.hooks.change({ [name]: value } as Partial<State>, true));
        this.lists.set(name, made);
        this.drawing.append(made);
    }

    private options(name: keyof State): [string, string][] {
        const { meta, types } = this.engine.profile;
        const sides = meta.sides ?? [];
        switch (name) {
        case "type": return types.map((type) => [typeId(type), type.unit === "count" ? type.name : `${type.name}, ${type.unit === "nanoseconds" ? "time" : type.unit}`]);
        case "typeBefore": return [["", "against: the same"], ...this.options("type").map(([id, text]): [string, string] => [id, `against: ${text}`])];
        case "order": return ORDERS;
        case "color": return [
            ...(meta.sides ? [["change", "Colour: change"] as [string, string]] : []),
            ["package", "Colour: package"], ["kind", "Colour: kind"], ["name", "Colour: name"],
            ...meta.labels.map((key): [string, string] => [`label:${key}`, `Colour: ${key}`]),
        ];
        case "group": return [["", "Group: none"], ...meta.labels.map((key): [string, string] => [key, `Group: ${key}`])];
        case "width": return [["both", "Width: both"], ["before", `Width: ${sides[0]}`], ["after", `Width: ${sides[1]}`]];
        case "changeOf": return [["total", "Change: total"], ["self", "Change: self"]];
        default: return [];
        }
    }

    show(state: State, describeTime: (range: [number, number]) => string): void {
        for (const [id, tab] of this.tabs) {
            tab.setAttribute("aria-selected", String(state.tab === id));
            tab.tabIndex = state.tab === id ? 0 : -1;
        }
        const idle = state.tab === "chart" ? ["icicle", "reverse", "order"] : [];
        for (const [name, button] of this.toggles) {
            setPressed(button, state[name] === true);
            button.hidden = idle.includes(name);
        }
        for (const [name, list] of this.lists) {
            list.hidden = idle.includes(name);
            const options = this.options(name);
            const value = state[name] as string;
            setOptions(list, options, options.some(([id]) => id === value) ? value : options[0]![0]);
        }
        setPressed(this.ignoreCase, state.ignoreCase);
        if (this.search.value !== state.search) this.search.value = state.search;
        this.keep.value = state.keep;
        this.drop.value = state.drop;
        this.showChips(state, describeTime);
    }

    private showChips(state: State, describeTime: (range: [number, number]) => string): void {
        const { change } = this.hooks;
        const chips: HTMLElement[] = [];
        const chip = (text: string, off: () => void): void => {
            chips.push(element("button", { type: "button", class: "chip", title: `${text}: click to remove`, click: off }, text, " ✕"));
        };
        if (state.time) chip(`time ${describeTime(state.time)}`, () => change({ time: null }, true));
        for (const one of state.only) {
            chip(`${one.key} = ${one.value === "" ? "none" : one.value}`, () => change({ only: state.only.filter((other) => other !== one) }, true));
        }
        for (const name of state.hidden) chip(`hidden: ${name}`, () => change({ hidden: state.hidden.filter((other) => other !== name) }, true));
        for (const stack of state.removed) {
            chip(`removed: ${stack.name}`, () => change({ removed: state.removed.filter((other) => other !== stack) }, true));
        }
        if (state.keep) chip(`only /${state.keep}/`, () => change({ keep: "" }, true));
        if (state.drop) chip(`without /${state.drop}/`, () => change({ drop: "" }, true));
        if (chips.length > 1) {
            const none: Partial<State> = { time: null, only: [], hidden: [], removed: [], keep: DEFAULT_STATE.keep, drop: DEFAULT_STATE.drop };
            chips.push(element("button", { type: "button", class: "chip all", id: "clear-filters", click: () => change(none, true) }, "Remove all filters"));
        }
        this.chips.hidden = chips.length === 0;
        this.chips.replaceChildren(...chips);
    }
}
