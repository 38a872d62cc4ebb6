// The page of a report: summary, advice, timeline, stages, one stage, SQL, errors, what the logs say most.
import { decodeBase64, decompress } from "./bytes.js";
import { element } from "./dom.js";
import { bytes, duration, LogError, moment, percent, Report, span, Stage, TASK_STATUS, timeSpent } from "./report_model.js";
import { comparisonParts } from "./report_comparison.js";
import { FlameSection, ProfileStore, stageFlames } from "./report_flame.js";
import { sqlParts, stageOperators } from "./report_sql.js";
import { Column, sortableTable } from "./report_table.js";
import { Timeline } from "./report_timeline.js";
import { applyTheme, isDark, startsDark, storedTheme, storeTheme } from "./theme.js";

const SLOWEST = 20, BUCKETS = 24, CHUNKS = 30, OPEN_CHUNKS = 6, OPEN_ADVICE = 12;

function section(id: string, title: string, ...children: (Node | null)[]): HTMLElement {
    return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title), ...children);
}

function summary(report: Report): HTMLElement {
    const { application, executors, jobs, stages, tasks } = report;
    const facts: [string, string][] = [
        ["application", application.id ?? "–"], ["started", moment(application.start_ms)],
        ["took", duration(span(application.start_ms, application.end_ms))], ["Spark", application.spark_version ?? "–"],
        ["Java", application.java_version ?? "–"], ["executors", String(executors.length)], ["jobs", String(jobs.length)],
        ["stages", String(stages.length)], ["tasks", tasks.id.length.toLocaleString("en")],
    ];
    const parts = timeSpent(report), whole = parts.reduce((sum, [, ms]) => sum + ms, 0);
    const rows = parts.map(([name, ms]) => element("tr", {}, element("th", { scope: "row" }, name),
        element("td", { class: "number" }, duration(ms)), element("td", { class: "number" }, percent(ms, whole)),
        element("td", { class: "bar-cell" }, element("meter", { min: 0, max: whole, value: ms, "aria-label": name }))));
    return section("summary", "Summary",
        element("dl", { class: "facts" }, ...facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))),
        rows.length === 0 ? null : element("table", { id: "time-spent" }, element("caption", {}, "Where the tasks' time went"), element("tbody", {}, ...rows)),
        report.time_spent.core_ms === 0 ? null : element("p", { id: "idle" }, `${percent(report.time_spent.idle_ms, report.time_spent.core_ms)} of the executors' cores were idle, of ${duration(report.time_spent.core_ms)} in all.`));
}

function adviceList(report: Report, choose: (id: number, attempt: number) => void): HTMLElement | null {
    if (report.advice.length === 0) return null;
    const items = report.advice.map((item) => element("li", {}, element("span", { class: "rule" }, item.rule),
        item.stage === undefined ? null : element("button", { type: "button", class: "link", click: () => choose(item.stage!, item.attempt ?? 0) }, `stage ${item.stage}`),
        element("span", {}, ` ${item.finding}`), element("p", { class: "label" }, item.remedy)));
    const rest = items.slice(OPEN_ADVICE);
    return section("advice", "Advice", element("ol", {}, ...items.slice(0, OPEN_ADVICE)), rest.length === 0 ? null
        : element("details", {}, element("summary", {}, `${rest.length} more`), element("ol", { start: OPEN_ADVICE + 1 }, ...rest)));
}

const shuffled = (stage: Stage): number => stage.shuffle_remote_bytes + stage.shuffle_local_bytes;
const took = (stage: Stage): number => span(stage.submitted_ms, stage.completed_ms) ?? -1;
const skew = (stage: Stage): number => stage.task_median_ms > 0 ? stage.task_max_ms / stage.task_median_ms : 0;

const STAGE_COLUMNS: Column<Stage>[] = [
    { title: "stage", text: (stage) => `${stage.id}.${stage.attempt}`, number: (stage) => stage.id + stage.attempt / 1000 },
    { title: "name", text: (stage) => stage.name ?? "", wide: true },
    { title: "status", text: (stage) => stage.status },
    { title: "took", text: (stage) => duration(took(stage)), number: took },
    { title: "tasks", text: (stage) => String(stage.tasks), number: (stage) => stage.tasks },
    { title: "failed", text: (stage) => stage.failed === 0 ? "–" : String(stage.failed), number: (stage) => stage.failed },
    { title: "median", text: (stage) => duration(stage.task_median_ms), number: (stage) => stage.task_median_ms },
    { title: "slowest", text: (stage) => duration(stage.task_max_ms), number: (stage) => stage.task_max_ms },
    { title: "skew", text: (stage) => skew(stage) > 0 ? `${skew(stage).toFixed(1)}×` : "–", number: skew },
    { title: "CPU", text: (stage) => percent(stage.cpu_ns / 1e6, stage.run_ms), number: (stage) => stage.run_ms > 0 ? stage.cpu_ns / stage.run_ms : 0 },
    { title: "GC", text: (stage) => percent(stage.gc_ms, stage.run_ms), number: (stage) => stage.run_ms > 0 ? stage.gc_ms / stage.run_ms : 0 },
    { title: "input", text: (stage) => bytes(stage.input_bytes), number: (stage) => stage.input_bytes },
    { title: "shuffled", text: (stage) => bytes(shuffled(stage)), number: shuffled },
    { title: "written", text: (stage) => bytes(stage.shuffle_write_bytes), number: (stage) => stage.shuffle_write_bytes },
    { title: "spilled", text: (stage) => bytes(stage.disk_spilled_bytes), number: (stage) => stage.disk_spilled_bytes },
];

/** How many tasks took how long, as bars that a screen reader reads too. */
function distribution(durations: number[]): HTMLElement {
    const most = durations.reduce((largest, ms) => Math.max(largest, ms), 1);
    const counts = new Array<number>(BUCKETS).fill(0);
    for (const ms of durations) counts[Math.min(BUCKETS - 1, Math.floor(ms / most * BUCKETS))]!++;
    const highest = Math.max(...counts);
    const bars = counts.map((count, i) => {
        const text = `${count} tasks took ${duration(most * i / BUCKETS)} to ${duration(most * (i + 1) / BUCKETS)}`;
        const bar = element("div", { class: "bar", role: "img", title: text, "aria-label": text });
        bar.style.height = `${count === 0 ? 1 : Math.max(4, 56 * count / highest)}px`;
        return bar;
    });
    return element("div", { class: "distribution" }, ...bars);
}

function stageDetails(report: Report, number: number): Node[] {
    const stage = report.stages[number]!, tasks = report.tasks;
    const own = [...tasks.stage.keys()].filter((i) => tasks.stage[i] === number);
    const slowest = [...own].sort((a, b) => tasks.duration_ms[b]! - tasks.duration_ms[a]!).slice(0, SLOWEST);
    const columns: Column<number>[] = [
        { title: "task", text: (i) => `${tasks.index[i]}.${tasks.attempt[i]}`, number: (i) => tasks.index[i]! },
        { title: "TID", text: (i) => String(tasks.id[i]), number: (i) => tasks.id[i]! },
        { title: "executor", text: (i) => report.executors[tasks.executor[i]!]?.id ?? "–" },
        { title: "status", text: (i) => TASK_STATUS[tasks.status[i]!] ?? "?" },
        { title: "took", text: (i) => duration(tasks.duration_ms[i]!), number: (i) => tasks.duration_ms[i]! },
        { title: "on the CPU", text: (i) => duration(tasks.cpu_ns[i]! / 1e6), number: (i) => tasks.cpu_ns[i]! },
        { title: "collecting", text: (i) => duration(tasks.gc_ms[i]!), number: (i) => tasks.gc_ms[i]! },
        { title: "input", text: (i) => bytes(tasks.input_bytes[i]!), number: (i) => tasks.input_bytes[i]! },
        { title: "shuffled", text: (i) => bytes(tasks.shuffle_bytes[i]!), number: (i) => tasks.shuffle_bytes[i]! },
        { title: "spilled", text: (i) => bytes(tasks.spilled_bytes[i]!), number: (i) => tasks.spilled_bytes[i]! },
    ];
    return [
        element("h2", { id: "stage-title", tabindex: "-1" }, `Stage ${stage.id}.${stage.attempt}: ${stage.name ?? ""}`),
        element("p", { class: "label" }, `${stage.status}, ${own.length} tasks, median ${duration(stage.task_median_ms)}, slowest ${duration(stage.task_max_ms)}`),
        stage.failure === null ? null : element("pre", {}, stage.failure),
        element("h3", {}, "Tasks by duration"), distribution(own.map((i) => tasks.duration_ms[i]!).filter((ms) => ms >= 0)),
        element("h3", {}, "Slowest tasks"), sortableTable("slowest", "Slowest tasks of the stage", columns, slowest),
    ].filter((node) => node !== null);
}

function errorItem(error: LogError): HTMLElement {
    const where = `${error.container ?? error.path}:${error.line}`;
    const who = error.stage === null ? "" : ` · stage ${error.stage}.${error.stage_attempt} task ${error.task}`;
    const often = error.count > 1 ? ` · ${error.count} times in ${error.log_count} log${error.log_count === 1 ? "" : "s"}` : "";
    return element("details", { class: "error" },
        element("summary", {}, element("span", { class: "rule" }, error.level), element("strong", {}, error.cause ?? error.message ?? ""),
                element("span", { class: "label" }, ` ${moment(error.last_ms)}${who}${often}`)),
        element("p", {}, `${error.logger === null ? "" : `${error.logger}: `}${error.message ?? ""}`),
        error.more === null ? null : element("pre", {}, error.more), element("p", { class: "label" }, where));
}

function errors(report: Report): HTMLElement | null {
    if (!report.errors) return null;
    return section("errors", "Errors", report.errors.length === 0 ? element("p", {}, "The logs hold no errors.") : null, ...report.errors.map(errorItem));
}

function chunks(report: Report): HTMLElement | null {
    const repeated = report.chunks?.filter((chunk) => chunk.count > 1).slice(0, CHUNKS);
    if (!repeated || repeated.length === 0) return null;
    return section("chunks", "What the logs say most", ...repeated.map((chunk, i) => element("details", { open: i < OPEN_CHUNKS, class: "chunk" },
        element("summary", {}, `${chunk.count.toLocaleString("en")} times: ${chunk.lines[0]}`), element("pre", {}, chunk.lines.join("\n")))));
}

function themeButton(): HTMLElement {
    const change = (): void => {
        storeTheme(!isDark());
        applyTheme(!isDark());
    };
    return element("button", { id: "theme", type: "button", title: "Light or dark", "aria-label": "Light or dark", click: change }, "◐");
}

/** The flame graphs of a stage come when its samples are read. */
async function addStageFlames(report: Report, number: number, store: ProfileStore, place: HTMLElement): Promise<void> {
    const flames = await stageFlames(report, number, store);
    if (flames) place.replaceChildren(element("h3", {}, "Flame graphs of the stage"), flames);
}

function show(report: Report, host: HTMLElement): FlameSection | null {
    const store = new ProfileStore();
    const flames = store.isThere ? new FlameSection(store) : null;
    const details = element("section", { id: "stage", "aria-live": "polite", hidden: true });
    const showStage = (number: number): void => {
        const place = element("div");
        const { id, attempt } = report.stages[number]!;
        details.replaceChildren(...stageDetails(report, number), ...[stageOperators(report, id, attempt, showCode)].filter((part) => part !== null), place);
        if (store.isThere) void addStageFlames(report, number, store, place);
        details.hidden = false;
        details.scrollIntoView({ block: "start" });
        document.getElementById("stage-title")!.focus({ preventScroll: true });
        history.replaceState(null, "", `#stage=${report.stages[number]!.id}.${report.stages[number]!.attempt}`);
    };
    const showCode = flames === null ? null : (stage: number, pattern: string): void => {
        flames.showCode(stage, pattern);
        document.getElementById("flame")!.scrollIntoView({ block: "start" });
    };
    const chooseById = (id: number, attempt: number): void => {
        const number = report.stages.findIndex((stage) => stage.id === id && stage.attempt === attempt);
        if (number >= 0) showStage(number);
    };
    const chooseLast = (id: number): void => chooseById(id, Math.max(...report.stages.filter((stage) => stage.id === id).map((stage) => stage.attempt)));
    const ran = report.stages.filter((stage) => stage.status !== "skipped" && stage.status !== "pending");
    const stages = section("stages", "Stages", sortableTable("stage-table", "Stages", STAGE_COLUMNS, ran, (stage) => showStage(report.stages.indexOf(stage))));
    const timeline = report.tasks.id.length === 0 && !report.curves ? null : new Timeline(report, showStage, (range) => flames?.setRange(range));
    const parts = [
        summary(report), adviceList(report, chooseById),
        timeline === null ? null : section("times", "Timeline", element("p", { class: "label" }, `Drag to look closer, double click to see all; a click on a task shows its stage.${flames ? " The flame graph below shows the same time." : ""}`), timeline.host),
        report.comparison ? section("comparison", "Comparison", ...comparisonParts(report, store, chooseById)) : null,
        flames === null ? null : section("flame", "Flame graph", flames.host),
        stages, details, report.sql.length === 0 ? null : section("sql", "SQL", ...sqlParts(report, chooseLast, showCode)), errors(report), chunks(report),
    ].filter((part) => part !== null);
    const links = parts.filter((part) => part !== details).map((part) => element("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent!));
    host.replaceChildren(element("header", {}, element("h1", {}, report.application.name ?? report.application.id ?? "Spark application"), element("nav", {}, ...links), themeButton()),
                         element("main", {}, ...parts));
    host.removeAttribute("aria-busy");
    const wanted = /^#stage=(\d+)\.(\d+)$/.exec(location.hash);
    if (wanted) chooseById(Number(wanted[1]), Number(wanted[2]));
    return flames;
}

async function start(): Promise<void> {
    const data = document.getElementById("data"), host = document.getElementById("page")!;
    applyTheme(startsDark());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => storedTheme() === null && applyTheme(event.matches));
    try {
        if (!data) throw new Error("the page holds no data");
        performance.mark("sparkflame-parsed");
        const packed = await decompress(decodeBase64(data.textContent!.trim()), data.dataset["encoding"] ?? "identity");
        data.remove();
        const flames = show(JSON.parse(new TextDecoder().decode(packed)) as Report, host);
        document.documentElement.dataset["ready"] = "1";
        performance.mark("sparkflame-ready");
        requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("sparkflame-drawn")));
        // First the rest is drawn.
        if (flames) requestAnimationFrame(() => window.setTimeout(() => void flames.start().catch((error: unknown) => flames.host.replaceChildren(
            element("p", { role: "alert" }, `The samples cannot be shown: ${error instanceof Error ? error.message : String(error)}.`)))));
    } catch (error) {
        host.replaceChildren(element("p", { id: "failure", role: "alert" }, `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}.`));
        document.documentElement.dataset["ready"] = "failed";
    }
}

void start();
