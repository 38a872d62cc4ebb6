// Flame graphs in a report: the viewer of the flame page in a shadow tree of its own, and what is chosen for it.
import { App } from "./app.js";
import { decodeBase64, decompress } from "./bytes.js";
import { element } from "./dom.js";
import { typeId } from "./engine.js";
import { decodeProfile, type Profile } from "./profile.js";
import { comparisonOf, labelValues, ofEachSet, partOf, withLanguages } from "./profile_parts.js";
import type { Report, Stage } from "./report_model.js";
import { ofStage, type Picked, rowsOf, ticksOf } from "./report_selection.js";
import type { State } from "./state.js";
import { stitched } from "./stitch.js";

/** Style of the flame page, put in by the bundler. */
declare const PAGE_STYLE: string;

/** Labels to choose by, in this order. */
const CHOICES = ["stage", "task", "executor", "thread", "state", "language"];
const MOST_OPTIONS = 1000;
/** The tasks that are slow, of those that succeeded. */
const SLOW_SHARE = 0.1;

let sheets: CSSStyleSheet[] | null = null;

function pageSheets(): CSSStyleSheet[] {
    if (!sheets) {
        sheets = [PAGE_STYLE, "#page{height:100%}section{border-top:0}:host{display:block;font-size:13px}"].map((text) => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(text);
            return sheet;
        });
    }
    return sheets;
}

/** A viewer in `container`, which gets a shadow tree, so that neither ids nor styles meet those of the report. */
function mount(container: HTMLElement, profile: Profile, start: Partial<State>, changed: (state: State) => void = () => {}): App {
    const root = container.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = pageSheets();
    const host = element("div", { id: "page" });
    root.append(host);
    return new App(profile, host, { start, changed });
}

/** A profile of this run, and of both where the report compares. */
interface Samples { own: Profile; both: Profile | null }

function samplesOf(profile: Profile): Samples {
    const whole = withLanguages(profile);
    if (!whole.meta.sides) return { own: whole, both: null };
    return { own: partOf(whole, (row) => (whole.rows.side[row] === 1 ? 1 : -1), {}), both: whole };
}

/** The profile of the page, decoded when it is first asked for. */
export class ProfileStore {
    private loading: Promise<void> | null = null;
    private readonly data = document.getElementById("profile");
    private readonly apps: { app: App; container: HTMLElement }[] = [];
    private decoded!: Profile;
    /** Python below the Java that waits for it, and beside it; made when they are first shown. */
    private joined: Samples | null = null;
    private apart: Samples | null = null;
    private isJoined = true;
    private readonly followers: (() => void)[] = [];

    constructor() {
        new MutationObserver(() => this.apps.forEach(({ app }) => app.followTheme()))
            .observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    }

    get isThere(): boolean {
        return this.data !== null;
    }

    private async samples(): Promise<Samples> {
        await (this.loading ??= this.decode());
        return this.isJoined && this.joined ? this.joined : this.apart ??= samplesOf(this.decoded);
    }

    async load(): Promise<Profile> {
        return (await this.samples()).own;
    }

    private async decode(): Promise<void> {
        const bytes = await decompress(decodeBase64(this.data!.textContent!.trim()), this.data!.dataset["encoding"] ?? "identity");
        this.data!.remove();
        this.decoded = decodeProfile(bytes);
        const joined = stitched(this.decoded);
        if (joined) this.joined = samplesOf(joined);
    }

    /** Samples of this run and of the one that it is compared with; null without a comparison. */
    async comparison(): Promise<Profile | null> {
        return (await this.samples()).both;
    }

    /** A button that joins or parts Java and Python everywhere; none where no task has both. */
    joinButton(): HTMLElement | null {
        if (!this.joined) return null;
        const title = "Continue a task's Java stack, where it waits for its Python worker, with the stacks of the worker; off: side by side";
        return element("button", { type: "button", class: "choice join", "aria-pressed": String(this.isJoined), title, click: () => {
            this.isJoined = !this.isJoined;
            for (const follow of this.followers) follow();
        } }, "Python below Java");
    }

    /** Calls `follow` when Java and Python were joined or parted. */
    onJoin(follow: () => void): void {
        this.followers.push(follow);
    }

    show(container: HTMLElement, profile: Profile, start: Partial<State>, changed?: (state: State) => void): App {
        // Viewers of stages that are no longer shown are forgotten.
        for (let i = this.apps.length - 1; i >= 0; i--) if (!this.apps[i]!.container.isConnected) this.apps.splice(i, 1);
        const app = mount(container, profile, { ...firstType(profile), ...start }, changed);
        this.apps.push({ app, container });
        return app;
    }
}

/** CPU samples, where there are any. */
export function firstType(profile: Profile): Partial<State> {
    const cpu = profile.types.find((type) => type.name === "cpu");
    return cpu ? { type: typeId(cpu) } : {};
}

/** The section with the flame graph of all that is selected. */
export class FlameSection {
    readonly host = element("div", { id: "flames" });
    private readonly bar = element("div", { class: "choices", role: "group", "aria-label": "Samples to show" });
    private container = element("div", { class: "viewer" });
    private readonly lists = new Map<string, HTMLSelectElement>();
    private app: App | null = null;
    private profile: Profile | null = null;
    private wantedRange: [number, number] | null = null;
    private compared: { before: Picked; after: Picked } | null = null;
    private timer = 0;

    constructor(private readonly store: ProfileStore) {
        this.host.append(element("p", { class: "label" }, "Reading the samples…"));
        store.onJoin(() => void this.open(this.compared ? { color: "change" } : { ...this.app?.state, zoom: "" }));
    }

    async start(): Promise<void> {
        await this.open({});
        this.host.dataset["ready"] = "1";
        performance.mark("sparkflame-flames");
    }

    /** Shows all samples, or the difference of what was picked. */
    private async open(state: Partial<State>): Promise<void> {
        const profile = await this.store.load();
        this.profile = profile;
        this.app = null;
        this.container = element("div", { class: "viewer" });
        if (this.compared) {
            this.openComparison(profile, this.compared.before, this.compared.after);
            return;
        }
        this.lists.clear();
        this.bar.replaceChildren();
        for (const label of CHOICES) this.addList(profile, label);
        const join = this.store.joinButton();
        if (join) this.bar.append(join);
        this.bar.hidden = this.bar.childElementCount === 0;
        this.host.replaceChildren(this.bar, this.container);
        this.app = this.store.show(this.container, profile, { ...state, time: ticksOf(profile, this.wantedRange) }, (changed) => this.follow(changed));
        this.follow(this.app.state);
        delete this.host.dataset["compared"];
    }

    private openComparison(profile: Profile, before: Picked, after: Picked): void {
        const part = comparisonOf(profile, rowsOf(profile, before), rowsOf(profile, after), [before.name, after.name]);
        const missing = [before, after].filter((_, side) => !part.rows.side.includes(side)).map(({ name }) => name);
        const button = (text: string, click: () => void): HTMLElement => element("button", { type: "button", class: "choice", click }, text);
        const back = button("Back to all samples", () => {
            this.compared = null;
            void this.open({});
        });
        this.bar.hidden = false;
        this.bar.replaceChildren(element("strong", {}, `${after.name} compared with ${before.name}`), button("Swap", () => void this.compare(after, before)), back);
        const join = this.store.joinButton();
        if (join) this.bar.append(join);
        this.host.replaceChildren(this.bar, missing.length === 0 ? this.container : element("p", {}, `There are no samples of ${missing.join(" and ")}.`));
        if (missing.length === 0) this.store.show(this.container, part, { color: "change" });
        this.host.dataset["compared"] = `${before.name} / ${after.name}`;
    }

    /** The difference of two selections; blue is less in the second, orange more. */
    async compare(before: Picked, after: Picked): Promise<void> {
        this.compared = { before, after };
        await this.open({});
    }

    private addList(profile: Profile, label: string): void {
        const values = labelValues(profile, label, MOST_OPTIONS);
        if (values.length === 0) return;
        const list = element("select", { "aria-label": `Samples of which ${label}`, "data-label": label });
        list.append(element("option", { value: "" }, `${label}: all`),
                    ...values.map(({ value, count }) => element("option", { value: `=${value}` }, `${label} ${value} (${count.toLocaleString("en")})`)),
                    element("option", { value: "none" }, `no ${label}`));
        list.addEventListener("change", () => this.choose(label, list.value));
        this.lists.set(label, list);
        this.bar.append(list);
    }

    private choose(label: string, option: string): void {
        const others = this.app!.state.only.filter((one) => one.key !== label);
        this.app!.update({ only: option === "" ? others : [...others, { key: label, value: option.replace(/^=|^none$/, "") }] }, true);
    }

    /** Samples of a stage that have a method of this pattern on their stack. */
    async showCode(stage: number, pattern: string): Promise<void> {
        if (this.compared) {
            this.compared = null;
            await this.open({});
        }
        const others = this.app?.state.only.filter((one) => one.key !== "stage") ?? [];
        this.app?.update({ only: [...others, { key: "stage", value: String(stage) }], keep: pattern, zoom: "" }, true);
    }

    /** The lists show what the viewer's chips and legend selected. */
    private follow(state: State): void {
        for (const [label, list] of this.lists) {
            const chosen = state.only.filter((one) => one.key === label);
            list.value = chosen.length !== 1 ? "" : chosen[0]!.value === "" ? "none" : `=${chosen[0]!.value}`;
        }
    }

    /** Only samples of this time; null: of all. */
    setRange(range: [number, number] | null): void {
        this.wantedRange = range;
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => {
            if (this.app && this.profile) this.app.update({ time: ticksOf(this.profile, range) });
        }, 150);
    }
}

/** Side of each row by its stage and task; -1: it is none of the stage's. */
function rowsOfStage(profile: Profile, stage: Stage, sideOfTask: (task: string) => number): (row: number) => number {
    const ofSet = ofEachSet(profile, ["stage", "stage_attempt", "task"], (id, attempt, task) =>
        id === String(stage.id) && (attempt === "" || attempt === String(stage.attempt)) ? sideOfTask(task) : -1);
    return (row) => ofSet[profile.rows.set[row]!] ?? -1;
}

/** Samples of a stage: by label, else those of its time. */
function stageProfile(profile: Profile, stage: Stage): { part: Profile; byTime: boolean } {
    const belongs = ofStage(profile, stage);
    return { part: partOf(profile, (row) => (belongs(row) ? 1 : -1), { title: `Stage ${stage.id}.${stage.attempt}` }), byTime: !profile.meta.labels.includes("stage") };
}

/** Ids of the slowest tasks of a stage that succeeded, and of the middle half. */
export function slowAndMiddle(report: Report, number: number): { slow: Set<string>; middle: Set<string> } {
    const { stage, status, duration_ms: took, id } = report.tasks;
    const own: number[] = [];
    for (let i = 0; i < stage.length; i++) if (stage[i] === number && status[i] === 1 && took[i]! >= 0) own.push(i);
    own.sort((a, b) => took[a]! - took[b]!);
    const slowCount = own.length < 3 ? 0 : Math.max(1, Math.floor(own.length * SLOW_SHARE));
    const rest = own.slice(0, own.length - slowCount);
    const names = (tasks: number[]): Set<string> => new Set(tasks.map((task) => String(id[task])));
    return { slow: names(own.slice(own.length - slowCount)), middle: names(rest.slice(Math.floor(rest.length / 4), Math.ceil(rest.length * 3 / 4))) };
}

/** The flame graphs of one stage: its samples, its slowest tasks against those around the median, and another run's. */
export async function stageFlames(report: Report, number: number, store: ProfileStore): Promise<HTMLElement | null> {
    const profile = await store.load();
    const stage = report.stages[number]!;
    const { part, byTime } = stageProfile(profile, stage);
    const { slow, middle } = slowAndMiddle(report, number);
    const tasks = (count: number): string => (count === 1 ? "task" : `${count} tasks`);
    const sides = [`${tasks(middle.size)} around the median`, `slowest ${tasks(slow.size)}`];
    const difference = partOf(profile, rowsOfStage(profile, stage, (task) => (slow.has(task) ? 1 : middle.has(task) ? 0 : -1)),
                              { title: `Stage ${stage.id}.${stage.attempt}: slowest tasks`, sides });
    const views: { id: string; text: string; profile: Profile; start: Partial<State> }[] = [];
    if (part.rows.count > 0) views.push({ id: "all", text: byTime ? "Flame graph of its time" : "Flame graph", profile: part, start: {} });
    if (new Set(difference.rows.side).size === 2) {
        views.push({ id: "slowest", text: "Slowest tasks against the median", profile: difference, start: { color: "change" } });
    }
    const against = await againstProfile(report, stage, store);
    if (against) views.push({ id: "against", text: "Against the other run", profile: against, start: { color: "change" } });
    if (views.length === 0) return null;
    const host = element("div", { id: "stage-flames" });
    const show = (id: string): void => {
        const view = views.find((one) => one.id === id)!;
        const container = element("div", { class: "viewer" });
        buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(views[i]!.id === id)));
        host.replaceChildren(bar, container);
        store.show(container, view.profile, view.start);
        host.dataset["shown"] = id;
    };
    const buttons = views.map((view) => element("button", { type: "button", class: "choice", "data-view": view.id, click: () => show(view.id) }, view.text));
    const bar = element("div", { class: "choices", role: "group", "aria-label": "Flame graphs of the stage" }, ...buttons, store.joinButton());
    // The viewer needs its size, so it comes when it is in the page.
    requestAnimationFrame(() => show(views[0]!.id));
    return host;
}

/** Samples of a stage in this run and in the other; null without both. */
async function againstProfile(report: Report, stage: Stage, store: ProfileStore): Promise<Profile | null> {
    const both = await store.comparison();
    const match = report.comparison?.find((row) => row.stage === stage.id && row.attempt === stage.attempt && row.against_stage !== null);
    if (!both || !match) return null;
    const other: Stage = { ...stage, id: match.against_stage!, attempt: match.against_attempt! };
    const own = rowsOfStage(both, stage, () => 1), theirs = rowsOfStage(both, other, () => 0);
    const part = partOf(both, (row) => (both.rows.side[row] === 1 ? own(row) : theirs(row)),
                        { title: `Stage ${stage.id}.${stage.attempt}: against the other run`, sides: ["other run", "this run"] });
    return new Set(part.rows.side).size === 2 ? part : null;
}
