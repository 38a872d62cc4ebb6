// Holds the state, computes through the engine, and shows the parts of the page.
import type { Profile } from "./profile.js";
import { DEFAULT_STATE, readState, writeState, type State } from "./state.js";
import { Engine } from "./engine.js";
import { Describer } from "./details.js";
import { FlameView, shortName, type FlameHooks, type Look } from "./flame_view.js";
import { axisMarks, TimeStrip } from "./time_strip.js";
import { TableView } from "./table_view.js";
import { Toolbar } from "./toolbar.js";
import { showHosts } from "./hosts.js";
import { Hint, Menu, popupParent, showHelp, showText, type MenuItem } from "./popups.js";
import { BoxTable } from "./box_table.js";
import { changeColor, changeLegend, classColor, labelPalette, plainPalette, type Palette } from "./colors.js";
import { methodColumns } from "./method_columns.js";
import { searchTree, type SearchResult } from "./methods.js";
import { toPattern } from "./names.js";
import { pathOf } from "./path_hash.js";
import { pathTo, type Tree } from "./tree.js";
import { copyText, debounce, element, saveFile } from "./dom.js";
import { foldedText, svgText } from "./exports.js";
import { formatCount, formatShare, formatValue } from "./numbers.js";
import { applyTheme, isDark, startsDark, storedTheme, storeTheme } from "./theme.js";

const MOST_CRUMBS = 6;
const MOST_PICTURE_ROWS = 800;
/** A drag over the time strip rebuilds on the way only while that is quick. */
const QUICK_MS = 80;

/** A viewer embedded in another page has no address, only its own keys, and reports changes. */
export interface Embedding {
    /** First state, beyond what the profile says. */
    start: Partial<State>;
    changed(state: State): void;
}

export class App {
    readonly engine: Engine;
    private readonly describer: Describer;
    /** State of a page without anything behind its #. */
    private readonly base: State;
    state: State;
    private readonly toolbar: Toolbar;
    private readonly strip: TimeStrip | null;
    private readonly main: FlameView;
    private readonly callers: FlameView;
    private readonly callees: FlameView;
    private readonly chart: FlameView;
    private readonly table: TableView;
    private readonly tableFilter: HTMLInputElement;
    private readonly tableCount = element("output", { id: "table-count" });
    private readonly crumbs = element("nav", { id: "crumbs", "aria-label": "Where the picture is zoomed" });
    private readonly legend = element("div", { id: "legend", "aria-label": "Meaning of colours" });
    private readonly status = element("footer", { id: "status" });
    private readonly live = element("div", { id: "live", class: "off-screen", "aria-live": "polite" });
    private readonly views: Record<State["tab"], HTMLElement>;
    private readonly nothing = element("p", { id: "nothing", role: "status" }, "No sample matches the filters. Remove one of them, or all.");
    private readonly sandwichTitle = element("div", { id: "sandwich-title" });
    private readonly boxTable = new BoxTable();
    private readonly hint: Hint;
    private readonly menu: Menu;
    private tree!: Tree;
    private zoom = 0;
    private found: SearchResult | null = null;
    private matchAt = -1;
    private dark = false;
    private historyDepth = 0;
    /** States to go back to; only of an embedded viewer, others are in the browser's history. */
    private readonly past: State[] = [];
    private lastUpdateMs = 0;
    private readonly describeBoxes = debounce(() => this.fillBoxTable(), 250);
    private readonly sumUpLegend = debounce(() => this.showLegend(), 60);

    constructor(profile: Profile, private readonly host: HTMLElement, private readonly embedding: Embedding | null = null) {
        this.engine = new Engine(profile);
        this.describer = new Describer(this.engine);
        const { meta } = profile;
        const start: State = { ...DEFAULT_STATE, readable: meta.readable ?? true, lines: meta.lines ?? false,
                               color: meta.sides ? "change" : DEFAULT_STATE.color, ...(meta.sides ? this.engine.startTypes() : {}) };
        this.base = { ...readState(meta.view ?? "", start), ...embedding?.start };
        this.state = this.readAddress();
        this.dark = embedding ? isDark() : startsDark();
        this.toolbar = new Toolbar(this.engine, {
            change: (change, push) => this.update(change, push), step: (forward) => this.step(forward), save: (format) => void this.save(format),
            theme: () => this.switchTheme(), help: () => showHelp(popupParent(host)), notes: () => showText(popupParent(host), "About this profile", meta.notes ?? ""),
            hosts: () => this.showHosts(),
        });
        this.strip = meta.time ? new TimeStrip(meta, (time, done) => this.brush(time, done)) : null;
        this.main = new FlameView(this.hooks(() => this.tree, (node) => this.zoomTo(node)), "Flame graph");
        const recenter = (tree: () => Tree) => (node: number): void => {
            if (node > 0) this.openMethod(tree().key[node]!);
        };
        this.callers = new FlameView(this.hooks(() => this.callerTree(), recenter(() => this.callerTree())), "Callers");
        this.callees = new FlameView(this.hooks(() => this.calleeTree(), recenter(() => this.calleeTree())), "Callees");
        this.chart = new FlameView(this.hooks(() => this.tree, (node) => this.zoomTime(node)), "Flame chart");
        this.table = new TableView((key) => this.openMethod(key), (key, x, y) => this.showMenu(this.engine.names(this.state).text(key), key, null, 0, x, y));
        this.tableFilter = element("input", { id: "table-filter", type: "search", placeholder: "Filter methods: regular expression",
                                              "aria-label": "Filter methods by regular expression", spellcheck: "false", autocomplete: "off" });
        this.tableFilter.addEventListener("input", () => this.showTable());
        this.views = {
            flame: element("section", { id: "view-flame", role: "tabpanel", "aria-label": "Flame graph" }, this.main.host),
            chart: element("section", { id: "view-chart", role: "tabpanel", "aria-label": "Flame chart" }, this.chart.host),
            table: element("section", { id: "view-table", role: "tabpanel", "aria-label": "Methods" },
                           element("div", { class: "table-tools" }, this.tableFilter, this.tableCount), this.table.host),
            sandwich: element("section", { id: "view-sandwich", role: "tabpanel", "aria-label": "Callers and callees" },
                              this.callers.host, this.sandwichTitle, this.callees.host),
        };
        this.hint = new Hint(popupParent(host));
        this.menu = new Menu(popupParent(host));
        this.mount();
    }

    private showHosts(): void {
        const { hosts } = this.engine.profile.meta;
        if (!hosts) return;
        showHosts(popupParent(this.host), hosts, {
            only: (host) => this.update({ only: [...this.state.only.filter((one) => one.key !== "host"), { key: "host", value: host }] }, true),
            search: (name) => this.update({ search: name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") }),
        });
    }

    /** Ignores a view that this profile does not have. */
    private readAddress(): State {
        const state = this.embedding ? this.base : readState(location.hash, this.base);
        return state.tab === "chart" && !this.engine.hasChart ? { ...state, tab: "flame" } : state;
    }

    private mount(): void {
        this.host.replaceChildren(this.toolbar.header, this.toolbar.controls, this.toolbar.chips, ...(this.strip ? [this.strip.host] : []),
                                  this.crumbs, this.nothing, this.views.flame, this.views.table, this.views.sandwich, this.views.chart, this.boxTable.host,
                                  this.legend, this.status, this.live);
        this.host.removeAttribute("aria-busy");
        applyTheme(this.dark);
        if (this.embedding) {
            this.host.addEventListener("keydown", (event) => this.key(event));
        } else {
            document.addEventListener("keydown", (event) => this.key(event));
            window.addEventListener("popstate", (event) => {
                this.historyDepth = (event.state as { depth?: number } | null)?.depth ?? 0;
                this.state = this.readAddress();
                this.refresh();
            });
        }
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
            if (this.embedding || storedTheme() !== null) return;
            this.dark = event.matches;
            applyTheme(this.dark);
            this.refresh();
        });
        if (!this.embedding) this.historyDepth = (history.state as { depth?: number } | null)?.depth ?? 0;
        this.refresh();
    }

    /** The only way to another state. `push`: the step can be taken back. */
    update(change: Partial<State>, push = false): void {
        const before = this.state;
        this.state = { ...this.state, ...change };
        if (this.embedding) {
            if (push) this.historyDepth = this.past.push(before);
            this.refresh();
            this.embedding.changed(this.state);
            return;
        }
        const text = writeState(this.state, this.base);
        const address = text === "" ? location.pathname + location.search : `#${text}`;
        if (push) history.pushState({ depth: ++this.historyDepth }, "", address);
        else history.replaceState({ depth: this.historyDepth }, "", address);
        this.refresh();
    }

    private refresh(): void {
        const began = performance.now();
        const { state } = this;
        this.hint.hide();
        const shown = state.tab === "chart" ? { tree: this.engine.chart(state).tree, zoom: 0 } : this.engine.shown(state);
        if (shown.tree !== this.tree || shown.zoom !== this.zoom) this.matchAt = -1;
        this.tree = shown.tree;
        this.zoom = shown.zoom;
        this.toolbar.show(state, (range) => this.strip?.describe(range) ?? "");
        for (const [tab, view] of Object.entries(this.views)) view.hidden = tab !== state.tab;
        this.legend.hidden = state.tab === "table";
        this.crumbs.hidden = state.tab !== "flame" && state.tab !== "chart";
        this.nothing.hidden = this.engine.selection(state).rows.length > 0;
        this.showSearch();
        this.showCrumbs();
        if (state.tab === "flame") this.main.show(this.look(this.tree, this.zoom, state.icicle));
        if (state.tab === "chart") this.chart.show(this.look(this.tree, 0, true));
        if (state.tab === "table") this.showTable();
        if (state.tab === "sandwich") this.showSandwich();
        this.showStrip();
        this.showStatus(-1, this.tree);
        this.sumUpLegend();
        this.lastUpdateMs = performance.now() - began;
    }

    /** The picture of the tab that is shown, where there is one. */
    private get picture(): FlameView {
        return this.state.tab === "chart" ? this.chart : this.main;
    }

    private get showsPicture(): boolean {
        return this.state.tab === "flame" || this.state.tab === "chart";
    }

    // Looks

    private palette(tree: Tree): Palette {
        const { state, engine } = this;
        const { meta } = engine.profile;
        if (state.color === "change" && meta.sides) {
            return { color: (node) => changeColor(this.describer.change(state, tree, node), this.dark), legend: () => changeLegend(meta.sides!, this.dark) };
        }
        if (state.color.startsWith("label:") && meta.labels.includes(state.color.slice(6))) {
            const classes = engine.classes(state.color.slice(6), engine.typeIndex(state));
            return labelPalette(tree.total.slice(engine.sideCount), classes.texts, this.dark);
        }
        const mode = state.color === "kind" || state.color === "name" ? state.color : "package";
        return plainPalette(mode, engine.profile, engine.names(state), tree, this.dark);
    }

    private look(tree: Tree, zoom: number, icicle: boolean, firstLevel = 0): Look {
        const { state } = this;
        const palette = this.palette(tree);
        const pattern = toPattern(state.search, state.ignoreCase);
        return {
            tree, zoom, icicle, firstLevel, dark: this.dark, color: palette.color,
            text: (node) => this.describer.text(state, tree, node),
            matched: pattern ? this.engine.names(state).matching(pattern) : null,
            mark: this.engine.sideCount === 2 ? (node) => this.describer.oneSided(tree, node) : null,
            ...(tree.isChart ? { axis: (from: number, to: number, pixels: number) => axisMarks(this.engine.profile.meta.time!, from, to, pixels) } : {}),
        };
    }

    private hooks(tree: () => Tree, zoom: (node: number) => void): FlameHooks {
        return {
            zoom,
            hover: (node, x, y) => {
                if (node < 0 || this.menu.open) this.hint.hide();
                else this.hint.show(this.describer.details(this.state, tree(), node), x, y, this.classShares(tree(), node));
                this.showStatus(node, tree());
            },
            menu: (node, x, y) => {
                this.hint.hide();
                this.showMenu(this.describer.text(this.state, tree(), node), node > 0 ? tree().key[node]! : -1, tree(), node, x, y);
            },
            remove: (node) => this.remove(tree(), node),
            focus: (node) => {
                this.showStatus(node, tree());
                this.live.textContent = this.describer.line(this.state, tree(), node);
            },
            drawn: (view) => {
                if (view === this.picture) this.describeBoxes();
            },
        };
    }

    /** "RUNNABLE 80.00 %, …" when a label colours. */
    private classShares(tree: Tree, node: number): string {
        const columns = tree.total.slice(this.engine.sideCount);
        if (columns.length === 0) return "";
        const texts = this.engine.classes(this.state.color.slice(6), this.engine.typeIndex(this.state)).texts;
        const sum = columns.reduce((all, column) => all + column[node]!, 0);
        return columns.map((column, i) => ({ text: texts[i] ?? "", value: column[node]! })).filter((entry) => entry.value > 0)
            .sort((a, b) => b.value - a.value).slice(0, 4).map((entry) => `${entry.text} ${formatShare(entry.value, sum)}`).join(", ");
    }

    private showStatus(node: number, tree: Tree): void {
        const { unit, name } = this.engine.type(this.state);
        const { totals } = this.engine.selection(this.state);
        if (node >= 0) {
            this.status.textContent = this.describer.line(this.state, tree, node);
            return;
        }
        const sums = totals.map((total) => formatValue(total, unit)).join(" → ");
        const coarse = tree.isChart && this.engine.chart(this.state).coarseness > 1 ? " · not every sample is drawn: choose a shorter time" : "";
        this.status.textContent = `${name}: ${sums}${unit === "count" && !name.endsWith("samples") ? " samples" : ""} · ` +
            `${formatCount(tree.count - 1)} boxes, ${tree.depth - 1} levels${coarse} · hover a box for details, click to zoom, right click for more`;
    }

    private showLegend(): void {
        if (this.state.tab === "table") return;
        const tree = this.state.tab === "sandwich" ? this.calleeTree() : this.tree;
        const entries = this.palette(tree).legend();
        const label = this.state.color.startsWith("label:") ? this.state.color.slice(6) : "";
        this.legend.replaceChildren(...entries.map((entry) => {
            const swatch = element("span", { class: "swatch" });
            swatch.style.backgroundColor = entry.color;
            const known = label !== "" && entry.choice !== undefined && entry.choice !== "other";
            if (!known) return element("span", { class: "legend-entry" }, swatch, entry.text);
            const value = entry.choice === `(no ${label})` ? "" : entry.choice!;
            return element("button", { type: "button", class: "legend-entry", title: `Show only ${label} ${entry.text}`,
                                       click: () => this.update({ only: [...this.state.only, { key: label, value }] }, true) }, swatch, entry.text);
        }));
    }

    private fillBoxTable(): void {
        if (!this.showsPicture) return;
        const boxes: number[] = [];
        for (const level of this.picture.visibleLevels().sort((a, b) => a - b)) {
            for (const node of this.picture.boxesOf(level, 3)) {
                boxes.push(node);
                if (boxes.length >= 200) break;
            }
            if (boxes.length >= 200) break;
        }
        const { state } = this;
        const { unit } = this.engine.type(state);
        const side = this.engine.sideCount - 1;
        this.boxTable.show(boxes.map((node) => ({
            level: pathTo(this.tree, node).length, name: this.describer.text(state, this.tree, node),
            total: formatValue(this.tree.total[side]![node]!, unit), self: formatValue(this.tree.self[side]![node]!, unit),
            share: formatShare(this.tree.total[side]![node]!, this.tree.total[side]![0]!), open: () => this.zoomTo(node),
        })));
    }

    // Zoom, search

    private zoomTo(node: number): void {
        if (this.state.tab === "chart") {
            this.zoomTime(node);
            return;
        }
        const path = node === 0 ? "" : pathOf(this.tree, node, this.engine.hashes(this.state));
        if (path === this.state.zoom) return;
        if (node > 0) this.engine.remember(this.tree, node, path);
        this.update({ zoom: path }, true);
        this.main.scrollTo(this.zoom);
    }

    /** A chart is zoomed by restricting the time to that of a box. */
    private zoomTime(node: number): void {
        const from = Math.floor(this.tree.x[node]! + 1e-6);
        const to = Math.max(from, Math.ceil(this.tree.x[node]! + this.tree.weight[node]! - 1e-6) - 1);
        const time: [number, number] | null = node === 0 ? null : [from, to];
        if (JSON.stringify(time) !== JSON.stringify(this.state.time)) this.update({ time }, true);
    }

    private back(): void {
        if (this.historyDepth === 0) return;
        if (!this.embedding) {
            history.back();
            return;
        }
        this.state = this.past.pop()!;
        this.historyDepth = this.past.length;
        this.refresh();
        this.embedding.changed(this.state);
    }

    private showCrumbs(): void {
        const path = this.tree.isChart ? [] : [0, ...pathTo(this.tree, this.zoom)];
        const shown = path.length > MOST_CRUMBS ? [...path.slice(0, 2), -1, ...path.slice(-(MOST_CRUMBS - 2))] : path;
        const crumb = (node: number): HTMLElement => node < 0 ? element("span", {}, `… ${path.length - MOST_CRUMBS} more …`)
            : element("button", { type: "button", class: "crumb", title: this.describer.text(this.state, this.tree, node),
                                  "aria-current": node === this.zoom ? "location" : null, click: () => this.zoomTo(node) },
                      shortName(this.describer.text(this.state, this.tree, node)));
        const back = element("button", { id: "back", type: "button", title: "Go back one step (Backspace)", click: () => this.back() }, "← Back");
        const reset = element("button", { id: "reset", type: "button", title: "Show everything (0)", click: () => this.zoomTo(0) }, "Reset zoom");
        back.disabled = this.historyDepth === 0;
        reset.disabled = this.tree.isChart ? this.state.time === null : this.zoom === 0;
        const separated = shown.flatMap((node, i) => (i > 0 ? [element("span", { "aria-hidden": "true", class: "crumb-gap" }, "›"), crumb(node)] : [crumb(node)]));
        this.crumbs.replaceChildren(back, reset, ...separated);
    }

    private showSearch(): void {
        const pattern = toPattern(this.state.search, this.state.ignoreCase);
        this.found = pattern ? searchTree(this.tree, this.engine.names(this.state).matching(pattern), this.zoom) : null;
        if (!this.found) {
            this.toolbar.result.textContent = "";
            return;
        }
        const covered = this.found.covered.slice(0, this.engine.sideCount);
        const shares = covered.map((value, side) => formatShare(value, this.tree.total[side]![this.zoom]!)).join(" → ");
        const count = this.found.nodes.length;
        this.toolbar.result.textContent = `${shares} matched, ${formatCount(count)} ${count === 1 ? "box" : "boxes"}`;
    }

    /** To the next or previous match. */
    private step(forward: boolean): void {
        if (!this.found || this.found.nodes.length === 0) return;
        if (!this.showsPicture) this.update({ tab: "flame" }, true);
        const count = this.found.nodes.length;
        this.matchAt = this.matchAt < 0 ? (forward ? 0 : count - 1) : (this.matchAt + (forward ? 1 : count - 1)) % count;
        this.picture.setFocus(this.found.nodes[this.matchAt]!);
        this.toolbar.result.textContent = `${this.toolbar.result.textContent!.replace(/ · .*$/, "")} · ${this.matchAt + 1} of ${count}`;
    }

    // Actions on a box

    private remove(tree: Tree, node: number): void {
        const names = this.engine.names(this.state);
        const path = pathTo(tree, node);
        if (path.length > 0 && names.isGroup(tree.key[path[0]!]!)) path.shift();
        if (path.length === 0 || tree !== this.tree) return;
        const grouped = path[0] !== pathTo(tree, node)[0];
        const hash = grouped ? this.ungroupedPath(path, tree) : pathOf(tree, node, this.engine.hashes(this.state));
        const removed = [...this.state.removed, { path: hash, name: shortName(names.text(tree.key[node]!)), reversed: this.state.reverse && !tree.isChart }];
        this.update({ removed }, true);
    }

    /** The hash of a path without the group above it. */
    private ungroupedPath(path: number[], tree: Tree): string {
        const count = path.length + 1;
        const chain = { ...tree, parent: Uint32Array.from({ length: count }, (_, i) => Math.max(0, i - 1)),
                        key: Uint32Array.from([0, ...path.map((node) => tree.key[node]!)]) };
        return pathOf(chain, path.length, this.engine.hashes(this.state));
    }

    private openMethod(key: number): void {
        if (!this.engine.names(this.state).isGroup(key)) this.update({ tab: "sandwich", method: this.engine.names(this.state).text(key) }, true);
    }

    private async copy(text: string): Promise<void> {
        const done = await copyText(text);
        this.live.textContent = this.status.textContent = done ? `Copied: ${text.length > 120 ? `${text.slice(0, 120)}…` : text}` : "The browser did not allow copying.";
    }

    private showMenu(title: string, key: number, tree: Tree | null, node: number, x: number, y: number): void {
        const names = this.engine.names(this.state);
        const literal = (text: string): string => `^${text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$`;
        const items: MenuItem[] = [];
        const item = (id: string, text: string, act: () => void): void => void items.push({ id, text, act });
        if (tree === this.tree) item("zoom", tree.isChart ? "Show only the time of this box" : "Zoom into this box", () => this.zoomTo(node));
        if (key >= 0 && !names.isGroup(key)) {
            item("sandwich", "Callers and callees of this method", () => this.openMethod(key));
            item("search", "Mark every box of this method", () => this.update({ search: literal(names.text(key)) }, true));
            item("hide", "Hide this method (its time goes to the caller)", () => this.update({ hidden: [...this.state.hidden, names.text(key)] }, true));
            if (tree === this.tree) item("remove", "Remove this stack", () => this.remove(tree, node));
            item("keep", "Keep only stacks with this method", () => this.update({ keep: literal(names.text(key)), zoom: "" }, true));
            item("drop", "Exclude stacks with this method", () => this.update({ drop: literal(names.text(key)), zoom: "" }, true));
        }
        item("copy", "Copy name", () => void this.copy(key >= 0 ? names.raw(key) : title));
        if (tree) {
            item("copy-stack", "Copy stack", () => void this.copy(pathTo(tree, node).map((at) => names.text(tree.key[at]!)).join(";")));
        }
        this.menu.show(shortName(title), items, x, y);
    }

    // Other views

    private callerTree(): Tree {
        return this.engine.callers(this.state, this.methodKey());
    }

    private calleeTree(): Tree {
        return this.engine.callees(this.state, this.methodKey());
    }

    /** The chosen method; without one, that with the most time of its own. */
    private methodKey(): number {
        const key = this.engine.names(this.state).find(this.state.method);
        if (this.state.method !== "" && key >= 0) return key;
        const sums = this.engine.sums(this.state);
        const names = this.engine.names(this.state);
        const side = this.engine.sideCount - 1;
        let best = 0;
        for (const one of sums.keys) if (!names.isGroup(one) && sums.self[side]![one]! > sums.self[side]![best]!) best = one;
        return best;
    }

    private showSandwich(): void {
        const key = this.methodKey();
        const names = this.engine.names(this.state);
        if (names.count === 0) return;
        const callers = this.callerTree();
        const callees = this.calleeTree();
        this.callers.show(this.look(callers, 0, false, 1));
        this.callees.show(this.look(callees, 0, true, 1));
        const { unit } = this.engine.type(this.state);
        const sums = this.engine.sums(this.state);
        const text = (columns: Float64Array[]): string => columns.slice(0, this.engine.sideCount).map((column) => formatValue(column[key] ?? 0, unit)).join(" → ");
        this.sandwichTitle.replaceChildren(
            element("span", { class: "label" }, "callers ↑"), element("strong", {}, names.text(key)),
            element("span", {}, `self ${text(sums.self)}, total ${text(sums.total)}`), element("span", { class: "label" }, "callees ↓"));
    }

    private showTable(): void {
        const sums = this.engine.sums(this.state);
        const names = this.engine.names(this.state);
        const pattern = toPattern(this.tableFilter.value, true);
        const matched = pattern ? names.matching(pattern) : null;
        const keys = sums.keys.filter((key) => !names.isGroup(key) && (!matched || matched[key] === 1));
        this.table.show(methodColumns(this.engine, this.state), keys);
        this.tableCount.textContent = `${formatCount(keys.length)} of ${formatCount(sums.keys.length)} methods · click one for its callers and callees`;
    }

    private showStrip(): void {
        if (!this.strip) return;
        const data = this.engine.strip(this.state);
        const single = data.rows.length === 1;
        this.strip.show({ labels: data.texts, rows: data.rows,
                          colors: data.rows.map((_, i) => (single ? (this.dark ? "#7cc4ff" : "#0b57d0") : classColor(i, this.dark))) },
                        this.state.time, this.dark);
    }

    private brush(time: [number, number] | null, done: boolean): void {
        if (done) this.update({ time }, true);
        else if (this.lastUpdateMs < QUICK_MS) {
            this.state = { ...this.state, time };
            this.refresh();
        }
    }

    // Files, theme, keys

    private exported(): { tree: Tree; zoom: number; icicle: boolean; view: FlameView } {
        return this.state.tab === "sandwich" ? { tree: this.calleeTree(), zoom: 0, icicle: true, view: this.callees }
            : this.state.tab === "chart" ? { tree: this.tree, zoom: 0, icicle: true, view: this.chart }
            : { tree: this.tree, zoom: this.zoom, icicle: this.state.icicle, view: this.main };
    }

    private async save(format: "svg" | "png" | "folded"): Promise<void> {
        const { meta } = this.engine.profile;
        const name = `${meta.title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "profile"}.${format === "folded" ? "folded" : format}`;
        const { tree, zoom, icicle, view } = this.exported();
        const text = (node: number): string => this.describer.text(this.state, tree, node);
        if (format === "folded") {
            saveFile(name, new Blob([foldedText(tree, zoom, this.engine.sideCount, text)], { type: "text/plain" }));
        } else if (format === "svg") {
            const svg = svgText({ tree, zoom, icicle, title: meta.title, dark: this.dark, width: 1200, color: this.palette(tree).color, text,
                                  short: shortName, details: (node) => this.describer.line(this.state, tree, node) });
            saveFile(name, new Blob([svg], { type: "image/svg+xml" }));
        } else {
            view.show(this.look(tree, zoom, icicle, view === this.callees ? 1 : 0));
            const canvas = view.picture(Math.max(600, this.host.clientWidth), MOST_PICTURE_ROWS, this.dark ? "#16181c" : "#ffffff");
            canvas.toBlob((blob) => blob && saveFile(name, blob), "image/png");
        }
    }

    /** Draws in the colours that the page has now. */
    followTheme(): void {
        const dark = isDark();
        if (dark === this.dark) return;
        this.dark = dark;
        this.refresh();
    }

    private switchTheme(): void {
        this.dark = !this.dark;
        storeTheme(this.dark);
        applyTheme(this.dark);
        this.refresh();
    }

    private dialogIsOpen(): boolean {
        return popupParent(this.host).querySelector("dialog[open]") !== null;
    }

    private key(event: KeyboardEvent): void {
        const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
        if (event.key === "Escape" && !this.dialogIsOpen()) {
            if (this.menu.open) this.menu.hide();
            else if (typing) (event.target as HTMLElement).blur();
            else if (this.state.search !== "") this.update({ search: "" });
            return;
        }
        if (typing || event.ctrlKey || event.metaKey || event.altKey || this.dialogIsOpen()) return;
        const { state } = this;
        const focused = this.picture.focused >= 0 ? this.picture.focused : this.zoom;
        const method = focused > 0 && this.showsPicture ? this.tree.key[focused]! : -1;
        const actions: Record<string, () => void> = {
            "/": () => { this.toolbar.search.focus(); this.toolbar.search.select(); }, "?": () => showHelp(popupParent(this.host)),
            "0": () => this.zoomTo(0), "Backspace": () => this.back(), "n": () => this.step(true), "N": () => this.step(false),
            "i": () => this.update({ icicle: !state.icicle }, true), "r": () => this.update({ reverse: !state.reverse }, true),
            "f": () => this.update({ fold: !state.fold }, true), "o": () => this.update({ order: state.order === "name" ? "width" : "name" }, true),
            "1": () => this.update({ tab: "flame" }, true), "2": () => this.update({ tab: "table" }, true), "3": () => this.update({ tab: "sandwich" }, true),
            "4": () => this.engine.hasChart && this.update({ tab: "chart" }, true),
            "d": () => this.switchTheme(), "c": () => void this.copy(method >= 0 ? this.engine.names(state).raw(method) : "all"),
            "s": () => method >= 0 && this.openMethod(method), "x": () => focused > 0 && this.showsPicture && this.remove(this.tree, focused),
            "h": () => method >= 0 && this.update({ hidden: [...state.hidden, this.engine.names(state).text(method)] }, true),
        };
        const act = actions[event.key];
        if (!act) return;
        event.preventDefault();
        act();
    }
}
