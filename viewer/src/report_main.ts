// The page of a report: summary, advice, timeline, stages, one stage, SQL, errors, what the logs say most.
import { decodeBase64, decompress } from "./bytes.js";
import { element } from "./dom.js";
import { bytes, duration, LogError, moment, percent, Report, span, Stage, TASK_STATUS, timeSpent } from "./report_model.js";
import { adviceItems, firstAdvice } from "./report_advice.js";
import { baselineParts } from "./report_baseline.js";
import { comparisonParts } from "./report_comparison.js";
import { executorTable } from "./report_executors.js";
import { FlameSection, ProfileStore, stageFlames } from "./report_flame.js";
import { followTheme, section, showSections } from "./report_frame.js";
import { followRun, progressOf } from "./report_progress.js";
import { ComparisonPicker, type Picked, pickedStage, pickedTask } from "./report_selection.js";
import { sqlParts, stageOperators } from "./report_sql.js";
import { Column, sortableTable } from "./report_table.js";
import { whatIfParts } from "./report_what_if.js";
import { Timeline } from "./report_timeline.js";
import { decodeReport } from "./task_columns.js";

const SLOWEST = 20, BUCKETS = 24, CHUNKS = 30, OPEN_CHUNKS = 6;

function summary(report: Report, choose: (id: number, attempt: number) => void): HTMLElement {
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
    return section("summary", "Summary", firstAdvice(report, choose),
        element("dl", { class: "facts" }, ...facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))),
        progressOf(report),
        rows.length === 0 ? null : element("table", { id: "time-spent" }, element("caption", {}, report.time_spent.core_ms > 0 ? "Where the executors' core time went" : "Where the tasks' time went"), element("tbody", {}, ...rows)),
        report.time_spent.core_ms === 0 ? null : element("p", { id: "idle" }, `${percent(report.time_spent.idle_ms, report.time_spent.core_ms)} of the executors' cores were idle, of ${duration(report.time_spent.core_ms)} in all.`));
}

/** A column of buttons that pick what is compared; none without samples. */
function compareColumn<Row>(picker: ComparisonPicker | null, picked: (row: Row) => Picked): Column<Row>[] {
    return picker ? [{ title: "", text: () => "", node: (row) => picker.button(() => picked(row)) }] : [];
}

const shuffled = (stage: Stage): number => stage.shuffle_remote_bytes + stage.shuffle_local_bytes;
const took = (stage: Stage): number => span(stage.submitted_ms, stage.completed_ms) ?? -1;
const skew = (stage: Stage): number => stage.task_median_ms > 0 ? stage.task_max_ms / stage.task_median_ms : 0;

const stageColumns = (picker: ComparisonPicker | null): Column<Stage>[] => [
    { title: "stage", text: (stage) => `${stage.id}.${stage.attempt}`, number: (stage) => stage.id + stage.attempt / 1000 },
    ...compareColumn<Stage>(picker, pickedStage),
    { title: "name", text: (stage) => stage.title ?? stage.name ?? "", wide: true },
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

function stageDetails(report: Report, number: number, picker: ComparisonPicker | null): Node[] {
    const stage = report.stages[number]!, tasks = report.tasks;
    const own = [...tasks.stage.keys()].filter((i) => tasks.stage[i] === number);
    const slowest = [...own].sort((a, b) => tasks.duration_ms[b]! - tasks.duration_ms[a]!).slice(0, SLOWEST);
    const columns: Column<number>[] = [
        { title: "task", text: (i) => `${tasks.index[i]}.${tasks.attempt[i]}`, number: (i) => tasks.index[i]! },
        ...compareColumn<number>(picker, (i) => pickedTask(tasks.id[i]!, `${tasks.index[i]}.${tasks.attempt[i]}`)),
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
        element("h2", { id: "stage-title", tabindex: "-1" }, `Stage ${stage.id}.${stage.attempt}: ${stage.title ?? stage.name ?? ""}`),
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
    return section("errors", "Errors", report.errors.length === 0 ? element("p", {}, "The logs contain no errors.") : null, ...report.errors.map(errorItem));
}

function chunks(report: Report): HTMLElement | null {
    const repeated = report.chunks?.filter((chunk) => chunk.count > 1).slice(0, CHUNKS);
    if (!repeated || repeated.length === 0) return null;
    return section("chunks", "Most repeated log lines", ...repeated.map((chunk, i) => element("details", { open: i < OPEN_CHUNKS, class: "chunk" },
        element("summary", {}, `${chunk.count.toLocaleString("en")} times: ${chunk.lines[0]}`), element("pre", {}, chunk.lines.join("\n")))));
}

/** The flame graphs of a stage come when its samples are read. */
async function addStageFlames(report: Report, number: number, store: ProfileStore, place: HTMLElement): Promise<void> {
    const flames = await stageFlames(report, number, store);
    if (flames) place.replaceChildren(element("h3", {}, "Flame graphs of the stage"), flames);
}

function show(report: Report, host: HTMLElement): FlameSection | null {
    const store = new ProfileStore();
    const flames = store.isThere ? new FlameSection(store) : null;
    const showFlames = (): void => document.getElementById("flame")!.scrollIntoView({ block: "start" });
    const picker = flames === null ? null : new ComparisonPicker((before, after) => void flames.compare(before, after).then(showFlames));
    let shownStage = -1;
    const details = element("section", { id: "stage", "aria-live": "polite", hidden: true });
    const showStage = (number: number): void => {
        const place = element("div");
        const { id, attempt } = report.stages[number]!;
        shownStage = number;
        details.replaceChildren(...stageDetails(report, number, picker), ...[stageOperators(report, id, attempt, showCode)].filter((part) => part !== null), place);
        if (store.isThere) void addStageFlames(report, number, store, place);
        details.hidden = false;
        details.scrollIntoView({ block: "start" });
        document.getElementById("stage-title")!.focus({ preventScroll: true });
        history.replaceState(null, "", `#stage=${report.stages[number]!.id}.${report.stages[number]!.attempt}`);
    };
    store.onJoin(() => {
        const place = details.lastElementChild;
        if (shownStage >= 0 && place instanceof HTMLElement) void addStageFlames(report, shownStage, store, place);
    });
    const showCode = flames === null ? null : (stage: number, pattern: string): void => void flames.showCode(stage, pattern).then(showFlames);
    const chooseById = (id: number, attempt: number): void => {
        const number = report.stages.findIndex((stage) => stage.id === id && stage.attempt === attempt);
        if (number >= 0) showStage(number);
    };
    const chooseLast = (id: number): void => chooseById(id, Math.max(...report.stages.filter((stage) => stage.id === id).map((stage) => stage.attempt)));
    const ran = report.stages.filter((stage) => stage.status !== "skipped" && stage.status !== "pending");
    const stages = section("stages", "Stages", sortableTable("stage-table", "Stages", stageColumns(picker), ran, (stage) => showStage(report.stages.indexOf(stage))));
    const timeline = report.tasks.id.length === 0 && !report.curves ? null : new Timeline(report, showStage, flames && picker ? { flames, picker, showFlames } : null);
    const whatIf = whatIfParts(report, chooseById);
    const parts = [
        summary(report, chooseById), report.baseline ? section("baseline", "Earlier runs", ...baselineParts(report.baseline, chooseById)) : null, report.advice.length === 0 ? null : section("advice", "Advice", ...adviceItems(report, chooseById)),
        timeline === null ? null : section("times", "Timeline", element("p", { class: "label" }, `Drag to zoom in, double-click to zoom out; click a task to show its stage.${flames ? " The flame graph below shows the same time." : ""}`), timeline.bar, timeline.host),
        whatIf === null ? null : section("what-if", "What if", ...whatIf),
        report.comparison ? section("comparison", "Comparison", ...comparisonParts(report, store, chooseById)) : null,
        flames === null ? null : section("flame", "Flame graph", flames.host),
        stages, details, report.executors.length === 0 || report.tasks.id.length === 0 ? null : section("executors", "Executors", executorTable(report, picker)),
        report.sql.length === 0 ? null : section("sql", "SQL", ...sqlParts(report, chooseLast, showCode)), errors(report), chunks(report),
    ].filter((part) => part !== null);
    showSections(host, report.application.name ?? report.application.id ?? "Spark application", parts, parts.filter((part) => part !== details), picker ? [picker.host] : []);
    const wanted = /^#stage=(\d+)\.(\d+)$/.exec(location.hash);
    if (wanted) chooseById(Number(wanted[1]), Number(wanted[2]));
    return flames;
}

async function start(): Promise<void> {
    const data = document.getElementById("data"), host = document.getElementById("page")!;
    followTheme();
    try {
        if (!data) throw new Error("the page contains no data");
        performance.mark("sparkflame-parsed");
        const packed = await decompress(decodeBase64(data.textContent!.trim()), data.dataset["encoding"] ?? "identity");
        data.remove();
        const report = decodeReport(packed);
        const flames = show(report, host);
        followRun(report);
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
