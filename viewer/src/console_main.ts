// The console of the collector: groups, applications, recordings over time, their flame graph, and comparison.
import { Application, ask, Group, Heap, Label, Method, Methods, Regression, Series } from "./console_api.js";
import { HeapPanel } from "./console_heap.js";
import { followKeys } from "./console_keys.js";
import { MethodsPanel } from "./console_methods.js";
import { RegressionsPanel } from "./console_regressions.js";
import { ConsoleState, EMPTY_STATE, panelAddress, pictureAddress, rangeBefore, readConsoleState, selectionOf, View, writeConsoleState } from "./console_state.js";
import { ConsoleTimeline } from "./console_timeline.js";
import { debounce, element, select, setOptions, setPressed, toggle } from "./dom.js";
import { formatCount, formatValue } from "./numbers.js";
import { applyTheme, isDark, startsDark, storeTheme } from "./theme.js";

const SHOWN_APPLICATIONS = 200, REFRESH_MS = 10_000;
// As `serve --ended-after`: executors send every five minutes.
const RUNNING_MS = 600_000;
const FORMATS: [string, string][] = [["html", "page"], ["svg", "SVG"], ["folded", "folded"], ["pprof", "pprof"], ["speedscope", "speedscope"], ["csv", "CSV"]];
const REPORT_FORMATS: [string, string][] = [["html", "page"], ["json", "JSON"], ["text", "text"]];
const RANGES: [string, number | null][] = [["all", null], ["15 min", 900_000], ["1 h", 3_600_000], ["24 h", 86_400_000]];
const GROUPINGS = ["", "application", "executor", "stage", "task", "thread", "state"];

const VIEWS: [View, string][] = [["flame", "Flame graph"], ["methods", "Hot spots"], ["heap", "Memory"], ["regressions", "Regressions"], ["compare", "Compare"], ["report", "Report"]];

const idOf = (item: Application): string => item.attempt === "" ? item.application : `${item.application}_${item.attempt}`;

class Console {
    private state: ConsoleState = readConsoleState(location.hash);
    private applications: Application[] = [];
    private series: Series | null = null;
    private groupPrice: number | undefined;
    /** Applications that were found to cost more than their earlier runs, as idOf() names them. */
    private regressed = new Set<string>();
    /** Of the picture or panel. */
    private shownPicture = "";
    private readonly methods = new MethodsPanel((change) => {
        // Samples say which application they are of, not which attempt of it: the one that sent last.
        const latest = change.application === undefined ? undefined : this.applications.find((item) => item.application === change.application);
        this.go({ ...this.state, ...change, ...(latest === undefined ? {} : { attempt: latest.attempt }) });
    });
    private lastMethods: Methods | Method | null = null;
    private readonly heap = new HeapPanel((change) => this.go({ ...this.state, ...change }));
    private readonly regressions = new RegressionsPanel((change) => this.go({ ...this.state, ...change }));
    private readonly panel = element("div", { id: "panel", hidden: true, tabindex: -1 });
    private readonly busy = element("p", { id: "busy", class: "label", role: "status", hidden: true }, "Working …");
    /** Recordings that the picture was made of. */
    private shownCount = 0;
    private follows = false;
    /** Answers to older questions are dropped. */
    private turn = 0;

    private readonly groups = select("group", "Group", (group) => this.go({ ...EMPTY_STATE, group }));
    private readonly failure = element("p", { id: "failure", role: "alert", hidden: true });
    private readonly filter = element("input", { id: "filter", type: "search", placeholder: "Filter applications", "aria-label": "Filter applications" });
    private readonly list = element("tbody", { id: "applications" });
    private readonly more = element("p", { id: "more", class: "label", hidden: true });
    private readonly timeline = new ConsoleTimeline((range) => this.go({ ...this.state, from: range?.[0] ?? null, to: range?.[1] ?? null }));
    private readonly rangeText = element("span", { id: "range", class: "label" });
    private readonly label = select("label", "Label", (label) => this.go({ ...this.state, labels: label === "" ? [] : [label] }));
    private readonly by = select("by", "Group samples by", (by) => this.go({ ...this.state, by }));
    private readonly executor = this.field("executor", "Executor", (executor) => ({ executor }));
    private readonly stage = this.field("stage", "Stage", (stage) => ({ stage }));
    private readonly include = this.field("include", "Stacks with", (include) => ({ include }), 18);
    private readonly choices = element("span", { class: "row" }, this.label, this.by, this.executor, this.stage, this.include);
    private readonly times = element("div", { id: "times" });
    private readonly firstTime = element("span", {});
    private readonly lastTime = element("span", {});
    private readonly against = select("against", "Compare with", (id) => this.compareWith(id));
    private readonly normalize = toggle("normalize", "same total", "Scale both sides to the same total", (normalize) => this.go({ ...this.state, normalize }));
    private readonly follow = toggle("follow", "follow", "Draw again when new recordings arrive", (follows) => {
        this.follows = follows;
        setPressed(this.follow, follows);
        void this.refresh(false);
    });
    private readonly tabs = new Map<View, HTMLButtonElement>();
    private readonly downloads = element("span", { id: "downloads" });
    private readonly saving = element("span", {}, element("span", { class: "label" }, "save as "), this.downloads);
    private readonly heading = element("h2", { id: "what" });
    private frame: HTMLIFrameElement = element("iframe", { id: "picture", title: "Flame graph", sandbox: "allow-scripts allow-downloads" });
    private readonly comparing = element("span", { id: "comparing" }, element("span", { class: "label" }, "with "), this.against, " ", this.normalize);

    constructor(host: HTMLElement) {
        this.filter.addEventListener("input", debounce(() => this.listApplications(), 120));
        host.replaceChildren(this.header(), this.failure, element("main", {}, this.applicationPart(), this.picturePart()));
        host.removeAttribute("aria-busy");
        addEventListener("hashchange", () => {
            this.state = readConsoleState(location.hash);
            void this.refresh(true);
        });
        document.addEventListener("visibilitychange", () => void this.refresh(false));
        window.setInterval(() => void this.refresh(false), REFRESH_MS);
        followKeys({ views: VIEWS.map(([view]) => this.tabs.get(view)!), filter: this.filter, moveInList: (by) => this.moveInList(by), theme: () => document.getElementById("theme")!.click() });
        void this.refresh(true);
    }

    private field(id: string, label: string, change: (value: string) => Partial<ConsoleState>, size = 8): HTMLInputElement {
        const made = element("input", { id, size, placeholder: label, "aria-label": label });
        made.addEventListener("change", () => this.go({ ...this.state, ...change(made.value.trim()) }));
        return made;
    }

    private header(): HTMLElement {
        const theme = toggle("theme", "dark", "Dark colours", (dark) => {
            applyTheme(dark);
            storeTheme(dark);
            setPressed(theme, dark);
        });
        setPressed(theme, isDark());
        return element("header", {}, element("h1", {}, "sparkflame"), element("label", {}, element("span", { class: "label" }, "group "), this.groups),
            element("span", { class: "space" }), element("a", { href: "/api", id: "api" }, "API"),
            element("button", { type: "button", id: "show-keys", title: "Keys (?)", "aria-label": "Keys", click: () => (document.getElementById("keys") as HTMLDialogElement).showModal() }, "?"), theme);
    }

    private applicationPart(): HTMLElement {
        const columns: [string, boolean][] = [["application", false], ["last recording", false], ["first", false], ["executors", true], ["recordings", true], ["size", true]];
        const head = columns.map(([title, isNumber]) => element("th", { scope: "col", class: isNumber ? "number" : null }, title));
        return element("section", { id: "list", "aria-label": "Applications" }, element("div", { class: "row" }, element("h2", {}, "Applications"), this.filter),
            element("div", { class: "scroll" }, element("table", {}, element("thead", {}, element("tr", {}, ...head)), this.list)), this.more);
    }

    private picturePart(): HTMLElement {
        VIEWS.forEach(([view, title], place) => this.tabs.set(view, toggle(`view-${view}`, title, `${title} (key ${place + 1})`, () => this.go({ ...this.state, view }))));
        const ranges = RANGES.map(([title, length]) => element("button", { type: "button", class: "range-choice", click: () => this.chooseLast(length) }, title));
        this.times.append(element("div", { class: "row" }, element("span", { class: "label" }, "received "), ...ranges, this.rangeText), this.timeline.node,
            element("div", { class: "axis label" }, this.firstTime, this.lastTime));
        return element("section", { id: "profile", "aria-label": "Profile" },
            element("div", { class: "row" }, this.heading, element("span", { class: "tabs" }, ...this.tabs.values()), this.follow, this.comparing),
            this.times, element("div", { class: "row" }, this.choices, element("span", { class: "space" }),
                this.saving), this.busy, this.panel, this.frame);
    }

    // ---- choosing ----

    private go(state: ConsoleState): void {
        const hash = `#${writeConsoleState(state)}`;
        if (hash === location.hash) return;
        location.hash = hash;
    }

    private chooseLast(length: number | null): void {
        const end = this.series === null ? Date.now() : this.series.to_ms;
        this.go({ ...this.state, from: length === null ? null : Math.max(0, end - length), to: length === null ? null : end });
    }

    private choose(item: Application): void {
        this.go({ ...this.state, application: item.application, attempt: item.attempt, from: null, to: null, executor: "", stage: "", method: "" });
    }

    /** The application below or above the chosen one in the list. */
    private moveInList(by: number): void {
        const buttons = [...this.list.querySelectorAll<HTMLButtonElement>("button.link")];
        const at = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
        const next = buttons[at < 0 ? 0 : Math.min(buttons.length - 1, Math.max(0, at + by))];
        next?.click();
        next?.scrollIntoView({ block: "nearest" });
    }

    private compareWith(id: string): void {
        const cleared = { ...this.state, view: "compare" as View, against: "", againstAttempt: "", againstFrom: null, againstTo: null };
        const before = rangeBefore(this.state);
        if (id === "before" && before !== null) this.go({ ...cleared, againstFrom: before[0], againstTo: before[1] });
        else if (id === "rest") this.go(cleared);
        const other = this.applications.find((item) => `app:${idOf(item)}` === id);
        if (other) this.go({ ...cleared, against: other.application, againstAttempt: other.attempt });
    }

    // ---- showing ----

    private async refresh(all: boolean): Promise<void> {
        if (document.hidden && !all) return;
        const turn = ++this.turn;
        try {
            const { groups } = await ask<{ groups: Group[] }>("/v1/groups");
            if (turn !== this.turn) return;
            this.showGroups(groups);
            if (this.state.group === "" || groups.length === 0) return;
            const group = encodeURIComponent(this.state.group);
            const [{ applications }, series, { labels }, { regressions }] = await Promise.all([
                ask<{ applications: Application[] }>(`/v1/applications?group=${group}&limit=10000`),
                ask<Series>(`/v1/series?${selectionOf(this.state, false)}`), ask<{ labels: Label[] }>(`/v1/labels?${selectionOf(this.state, false)}`),
                ask<{ regressions: Regression[] }>(`/v1/regressions?group=${group}`)]);
            if (turn !== this.turn) return;
            this.regressed = new Set(regressions.map(({ run }) => run.attempt === "" ? run.application : `${run.application}_${run.attempt}`));
            this.groupPrice = groups.find((item) => item.group === this.state.group)?.price_core_hour;
            this.applications = applications;
            this.series = series;
            this.show(labels);
            this.complain("");
        } catch (error) {
            if (turn === this.turn) this.complain(error instanceof Error ? error.message : String(error));
        }
        document.documentElement.dataset["ready"] = "1";
    }

    private complain(text: string): void {
        this.failure.textContent = text === "" ? "" : `The collector did not answer: ${text}.`;
        this.failure.hidden = text === "";
    }

    private showGroups(groups: Group[]): void {
        const known = groups.some((item) => item.group === this.state.group);
        setOptions(this.groups, groups.map((item) => [item.group, `${item.group} (${formatCount(item.applications)})`]), this.state.group);
        if (groups.length === 0) {
            this.heading.textContent = "Nothing was received yet";
            this.frame.hidden = true;
            this.more.hidden = false;
            this.more.textContent = "Send a first recording: sparkflame push --to (this address) --group etl recordings/";
            document.documentElement.dataset["ready"] = "1";
        } else if (!known) {
            const newest = groups.reduce((best, item) => item.last_ms > best.last_ms ? item : best);
            history.replaceState(null, "", `#${writeConsoleState({ ...EMPTY_STATE, group: newest.group })}`);
            this.state = readConsoleState(location.hash);
            this.groups.value = newest.group;
        }
    }

    private listApplications(): void {
        const wanted = this.filter.value.trim().toLowerCase();
        const found = this.applications.filter((item) => idOf(item).toLowerCase().includes(wanted));
        const now = Date.now();
        this.list.replaceChildren(...found.slice(0, SHOWN_APPLICATIONS).map((item) => this.applicationRow(item, now)));
        this.more.hidden = found.length > 0 && found.length <= SHOWN_APPLICATIONS;
        this.more.textContent = found.length === 0 ? "None matches." : `${formatCount(found.length - SHOWN_APPLICATIONS)} more: use the filter.`;
    }

    private applicationRow(item: Application, now: number): HTMLElement {
        const isChosen = item.application === this.state.application && item.attempt === this.state.attempt;
        const button = element("button", { type: "button", class: "link", "aria-pressed": String(isChosen), click: () => this.choose(item) }, idOf(item));
        const isRunning = now - item.last_ms < RUNNING_MS;
        const mark = this.regressed.has(idOf(item)) ? element("button", { type: "button", class: "mark", title: "It costs more than its earlier runs",
            click: () => this.go({ ...EMPTY_STATE, group: this.state.group, application: item.application, attempt: item.attempt, view: "regressions" }) }, "regression") : null;
        return element("tr", { class: isChosen ? "chosen" : null }, element("td", {}, button, mark === null ? null : " ", mark),
            element("td", {}, element("span", { class: isRunning ? "running" : "ended" }, isRunning ? "now" : new Date(item.last_ms).toLocaleString())),
            element("td", {}, new Date(item.first_ms).toLocaleString()), element("td", { class: "number" }, formatCount(item.executors)),
            element("td", { class: "number" }, formatCount(item.recordings)), element("td", { class: "number" }, formatValue(item.bytes, "bytes")));
    }

    private showRange(): void {
        const { from, to } = this.state;
        const text = (ms: number | null): string => ms === null ? "…" : new Date(ms).toLocaleString();
        this.rangeText.textContent = from === null && to === null ? "" : ` ${text(from)} – ${text(to)}`;
        this.firstTime.textContent = text(this.series!.from_ms);
        this.lastTime.textContent = text(this.series!.to_ms);
        this.timeline.show(this.series!, from === null && to === null ? null : [from ?? this.series!.from_ms, to ?? this.series!.to_ms]);
    }

    private showControls(labels: Label[]): void {
        const { state } = this;
        const values = labels.flatMap((item) => item.values.map((value) => `${item.name}=${value}`));
        const chosen = state.labels[0] ?? "";
        if (chosen !== "" && !values.includes(chosen)) values.push(chosen);
        setOptions(this.label, [["", "all labels"], ...values.map((value): [string, string] => [value, value])], chosen);
        const groupings = [...GROUPINGS, ...labels.map((item) => item.name)];
        if (!groupings.includes(state.by)) groupings.push(state.by);
        setOptions(this.by, groupings.map((name) => [name, name === "" ? "not grouped" : `by ${name}`]), state.by);
        this.executor.value = state.executor;
        this.stage.value = state.stage;
        this.include.value = state.include;
        const shows = (...views: View[]): boolean => views.includes(state.view);
        this.by.hidden = shows("methods", "heap");
        this.stage.hidden = this.include.hidden = shows("heap");
        this.saving.hidden = !shows("flame", "compare", "report");
        this.follow.hidden = shows("regressions", "report");
        for (const [view, button] of this.tabs) setPressed(button, view === state.view);
        setPressed(this.normalize, state.normalize);
        this.comparing.hidden = state.view !== "compare";
        // A report is of the whole application.
        this.times.hidden = this.choices.hidden = shows("report", "regressions");
        this.tabs.get("report")!.disabled = state.application === "";
        this.showAgainst();
    }

    /** What a panel shows is asked for once; an answer to an older question is dropped. */
    private async fillPanel(address: string, state: ConsoleState): Promise<void> {
        const { node } = state.view === "methods" ? this.methods : state.view === "heap" ? this.heap : this.regressions;
        if (this.panel.firstElementChild !== node) this.panel.replaceChildren(node);
        this.busy.hidden = false;
        this.panel.setAttribute("aria-busy", "true");
        try {
            const answer = await ask<unknown>(address);
            if (address !== this.shownPicture) return;
            if (state.view === "methods") this.methods.show(this.lastMethods = answer as Methods | Method, state, this.groupPrice);
            else if (state.view === "heap") this.heap.show(answer as Heap);
            else if (state.application === "") this.regressions.showList(answer as { regressions: Regression[]; checked: number });
            else this.regressions.showOne(answer as Regression);
        } catch (error) {
            if (address !== this.shownPicture) return;
            this.panel.replaceChildren(...(state.view === "methods" ? [node] : []), element("p", { class: "problem" }, `${error instanceof Error ? error.message : String(error)}.`));
        }
        this.busy.hidden = true;
        this.panel.removeAttribute("aria-busy");
    }

    private showAgainst(): void {
        const { state } = this;
        const others = this.applications.filter((item) => item.application !== state.application || item.attempt !== state.attempt).slice(0, SHOWN_APPLICATIONS);
        const options: [string, string][] = [["rest", "all of the same"]];
        if (rangeBefore(state) !== null) options.push(["before", "the time before"]);
        for (const item of others) options.push([`app:${idOf(item)}`, idOf(item)]);
        const other = state.againstAttempt === "" ? state.against : `${state.against}_${state.againstAttempt}`;
        const value = state.against !== "" ? `app:${other}` : state.againstFrom !== null ? "before" : "rest";
        if (!options.some(([id]) => id === value)) options.push([value, state.against === "" ? "another time" : other]);
        setOptions(this.against, options, value);
    }

    private show(labels: Label[]): void {
        const { state } = this;
        this.listApplications();
        this.showRange();
        this.showControls(labels);
        this.heading.textContent = state.application === "" ? `All of ${state.group}` : state.attempt === "" ? state.application : `${state.application}_${state.attempt}`;
        document.title = `${this.heading.textContent} – sparkflame`;
        this.downloads.replaceChildren(...(state.view === "report" ? REPORT_FORMATS : FORMATS).map(([format, title]) =>
            element("a", { href: pictureAddress(state, format), download: `${this.heading.textContent}.${format}` }, title)));
        const panel = panelAddress(state);
        const address = panel ?? pictureAddress(state, "html");
        const count = this.series!.series.reduce((sum, step) => sum + step.recordings, 0);
        this.frame.hidden = panel !== null;
        this.panel.hidden = panel === null;
        this.methods.controlsOf(state, this.groupPrice);
        if (panel !== null && this.state.view === "methods" && address === this.shownPicture && this.lastMethods !== null)
            this.methods.show(this.lastMethods, state, this.groupPrice);
        if (address === this.shownPicture && !(this.follows && count !== this.shownCount)) return;
        this.shownPicture = address;
        this.shownCount = count;
        if (panel !== null) {
            void this.fillPanel(panel, state);
            return;
        }
        // Not by the src attribute: each would be a step of the browser's history.
        const frame = this.frame.cloneNode(false) as HTMLIFrameElement;
        frame.src = address;
        this.frame.replaceWith(frame);
        this.frame = frame;
    }
}

applyTheme(startsDark());
new Console(document.getElementById("page")!);
