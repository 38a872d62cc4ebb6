// Tasks over time: jobs and problems above, one lane per executor and slot, metrics below. Drag to zoom in,
// double click to see all again.
import { element } from "./dom.js";
import { Curves, type Frame } from "./report_curves.js";
import type { FlameSection } from "./report_flame.js";
import { type ComparisonPicker, pickedTime } from "./report_selection.js";
import { TaskPainter } from "./report_tasks.js";
import { byLaunch } from "./task_columns.js";
import { isDark } from "./theme.js";
import { duration, extent, moment, Report, TASK_STATUS } from "./report_model.js";

const LANE = 11, JOB = 16, MARK = 12, GAP = 6, AXIS = 20, LABEL = 84, MOST_HEIGHT = 900;

/** Something that went wrong at a moment. */
interface Mark { ms: number; name: string; text: string; lost: boolean }

interface Lanes { lane: Int32Array; count: number; first: number[] }

/** Puts each task in the first slot of its executor that is free when it starts. */
export function layLanes(report: Report): Lanes {
    const { launch_ms: launch, duration_ms: took, executor } = report.tasks;
    const lane = new Int32Array(launch.length).fill(-1);
    const slots: number[][] = report.executors.map(() => []);
    const order = byLaunch(report.tasks);
    for (let i = 0; i < order.length; i++) {
        const task = order[i]!;
        if (executor[task]! < 0) continue;
        const ends = slots[executor[task]!]!;
        let slot = 0;
        while (slot < ends.length && ends[slot]! > launch[task]!) slot++;
        ends[slot] = launch[task]! + Math.max(took[task]!, 1);
        lane[task] = slot;
    }
    const first: number[] = [];
    let count = 0;
    for (const ends of slots) {
        first.push(count);
        count += ends.length;
    }
    for (let i = 0; i < lane.length; i++) if (lane[i]! >= 0) lane[i]! += first[executor[i]!]!;
    return { lane, count, first };
}

/** Tasks that had not ended last until the end of what is known. */
function withRunning(report: Report): Report {
    const { tasks } = report;
    if (report.application.end_ms !== null || !tasks.status.includes(0)) return report;
    const end = extent(report)[1];
    const duration_ms = tasks.duration_ms.map((ms, i) => (ms < 0 && tasks.status[i] === 0 && tasks.launch_ms[i]! >= 0 ? end - tasks.launch_ms[i]! : ms));
    return { ...report, tasks: { ...tasks, duration_ms } };
}

function marksOf(report: Report): Mark[] {
    const end = report.application.end_ms ?? Infinity;
    const lost = report.executors.filter((executor) => executor.removed_ms !== null && executor.removed_ms < end && executor.removed_reason !== null)
        .map((executor): Mark => ({ ms: executor.removed_ms!, name: `executor ${executor.id} is lost`, text: executor.removed_reason!, lost: true }));
    const errors = (report.errors ?? []).filter((error) => error.last_ms !== null)
        .map((error): Mark => ({ ms: error.last_ms!, name: error.cause ?? error.level, text: error.message ?? "", lost: false }));
    return [...errors, ...lost];
}

/** Where the samples of a range are shown. */
export interface RangeViews { flames: FlameSection; picker: ComparisonPicker; showFlames(): void }

export class Timeline {
    readonly host: HTMLElement;
    /** What can be done with the range that is shown. */
    readonly bar = element("div", { class: "choices", id: "range", role: "group", "aria-label": "The range of time that is shown" });
    private readonly rangeText = element("span", { class: "label" });
    private readonly canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": "Tasks over time, by executor; arrow keys move, + and - zoom" });
    private readonly marks: Mark[];
    private readonly curves: Curves;
    private readonly painter: TaskPainter;
    private readonly hint = element("div", { id: "hint", hidden: true });
    private readonly lanes: Lanes;
    private readonly whole: [number, number];
    private shown: [number, number];
    private dragFrom: number | null = null;
    private dragTo = 0;

    private readonly report: Report;

    constructor(report: Report, private readonly choose: (stage: number) => void,
                private readonly views: RangeViews | null) {
        this.report = report = withRunning(report);
        this.lanes = layLanes(report);
        this.marks = marksOf(report);
        this.curves = new Curves(report);
        this.painter = new TaskPainter(report.tasks, this.lanes.lane, report.stages.map((stage) => stage.id));
        if (this.curves.names.length > 0) this.canvas.setAttribute("aria-label", `${this.canvas.getAttribute("aria-label")}; below them ${this.curves.names.join(", ")}`);
        this.whole = extent(report);
        this.shown = [...this.whole];
        this.host = element("div", { id: "timeline" }, this.canvas, this.hint);
        this.canvas.addEventListener("pointerdown", (event) => this.startDrag(event));
        this.canvas.addEventListener("pointermove", (event) => this.move(event));
        this.canvas.addEventListener("pointerup", (event) => this.endDrag(event));
        this.canvas.addEventListener("pointercancel", () => {
            this.dragFrom = null;
            this.draw();
        });
        this.canvas.addEventListener("pointerleave", () => this.hint.hidden = true);
        this.canvas.addEventListener("dblclick", () => this.show(this.whole));
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        this.fillBar();
        new ResizeObserver(() => this.draw()).observe(this.host);
        new MutationObserver(() => this.draw()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    }

    private fillBar(): void {
        const button = (text: string, click: () => void): HTMLElement => element("button", { type: "button", class: "choice", click }, text);
        const { views } = this;
        const ofRange = views === null ? [] : [button("Flame graph of this time", () => views.showFlames()),
                                               views.picker.button(() => pickedTime(this.shown, this.whole[0]), "⇄ Compare this time")];
        this.bar.replaceChildren(this.rangeText, ...ofRange, button("Show all", () => this.show(this.whole)));
        this.bar.hidden = true;
    }

    show(range: [number, number]): void {
        const least = Math.max((this.whole[1] - this.whole[0]) / 1e6, 1);
        const width = Math.min(Math.max(range[1] - range[0], least), this.whole[1] - this.whole[0]);
        const from = Math.min(Math.max(range[0], this.whole[0]), this.whole[1] - width);
        this.shown = [from, from + width];
        this.draw();
        const isPart = width < this.whole[1] - this.whole[0];
        this.bar.hidden = !isPart;
        this.rangeText.textContent = pickedTime(this.shown, this.whole[0]).name;
        this.views?.flames.setRange(isPart ? [...this.shown] : null);
    }

    private width(): number {
        return Math.max(this.host.clientWidth - LABEL, 50);
    }

    private x(ms: number): number {
        return LABEL + (ms - this.shown[0]) / (this.shown[1] - this.shown[0]) * this.width();
    }

    private time(x: number): number {
        return this.shown[0] + (x - LABEL) / this.width() * (this.shown[1] - this.shown[0]);
    }

    private laneHeight(): number {
        return Math.max(1, Math.min(LANE, (MOST_HEIGHT - AXIS - JOB) / Math.max(this.lanes.count, 1)));
    }

    private marksTop(): number {
        return AXIS + (this.report.jobs.length > 0 ? JOB + GAP : 0);
    }

    private lanesTop(): number {
        return this.marksTop() + (this.marks.length > 0 ? MARK + GAP : 0);
    }

    private curvesTop(): number {
        return Math.ceil(this.lanesTop() + this.lanes.count * this.laneHeight() + GAP);
    }

    private frame(style: CSSStyleDeclaration): Frame {
        const colour = (name: string): string => style.getPropertyValue(name);
        return { left: LABEL, width: this.width(), top: this.curvesTop(), fore: colour("--fore"), soft: colour("--soft"), line: colour("--line"),
                 dark: isDark(), x: (ms) => this.x(ms), time: (x) => this.time(x) };
    }

    private draw(): void {
        const ratio = window.devicePixelRatio || 1;
        const width = this.host.clientWidth, height = this.curvesTop() + this.curves.height;
        this.canvas.width = width * ratio;
        this.canvas.height = height * ratio;
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        const context = this.canvas.getContext("2d")!;
        context.scale(ratio, ratio);
        const style = getComputedStyle(this.host);
        context.font = "11px system-ui, sans-serif";
        context.textBaseline = "middle";
        this.drawAxis(context, style.getPropertyValue("--soft"), height);
        this.drawJobs(context, style.getPropertyValue("--bar"), style.getPropertyValue("--fore"));
        this.drawTasks(context, ratio);
        this.drawMarks(context, style.getPropertyValue("--bad"));
        const frame = this.frame(style);
        this.curves.draw(context, frame);
        this.drawLabels(context, style.getPropertyValue("--back"), style.getPropertyValue("--soft"));
        this.curves.drawTitles(context, frame);
        if (this.dragFrom !== null) {
            context.fillStyle = "rgba(80, 140, 240, .25)";
            context.fillRect(Math.min(this.dragFrom, this.dragTo), 0, Math.abs(this.dragTo - this.dragFrom), height);
        }
    }

    private drawAxis(context: CanvasRenderingContext2D, colour: string, height: number): void {
        const steps = Math.max(2, Math.floor(this.width() / 130));
        context.strokeStyle = context.fillStyle = colour;
        context.globalAlpha = 0.25;
        context.beginPath();
        for (let i = 0; i <= steps; i++) {
            const x = Math.round(LABEL + this.width() * i / steps) + 0.5;
            context.moveTo(x, AXIS - 4);
            context.lineTo(x, height);
        }
        context.stroke();
        context.globalAlpha = 1;
        for (let i = 0; i < steps; i++) {
            const x = LABEL + this.width() * i / steps;
            context.fillText(`+${duration(this.time(x) - this.whole[0])}`, x + 3, AXIS / 2);
        }
    }

    private drawJobs(context: CanvasRenderingContext2D, back: string, fore: string): void {
        for (const job of this.report.jobs) {
            if (job.submitted_ms === null) continue;
            const left = this.x(job.submitted_ms), right = this.x(job.completed_ms ?? this.whole[1]);
            if (right < LABEL || left > LABEL + this.width()) continue;
            const from = Math.max(left, LABEL), wide = Math.max(right - from, 1);
            context.fillStyle = job.status === "failed" ? "#d33c3c" : back;
            context.fillRect(from, AXIS, wide - 0.5, JOB);
            context.fillStyle = job.status === "failed" ? "#ffffff" : fore;
            if (wide > 40) context.fillText(`job ${job.id}`, from + 3, AXIS + JOB / 2, wide - 6);
        }
    }

    /** A triangle for an error, a cross and a line through the lanes for an executor that was lost. */
    private drawMarks(context: CanvasRenderingContext2D, colour: string): void {
        const top = this.marksTop();
        context.fillStyle = context.strokeStyle = colour;
        for (const mark of this.marks) {
            const x = this.x(mark.ms);
            if (x < LABEL || x > LABEL + this.width()) continue;
            context.beginPath();
            if (mark.lost) {
                context.moveTo(x - 4, top + 1);
                context.lineTo(x + 4, top + 9);
                context.moveTo(x + 4, top + 1);
                context.lineTo(x - 4, top + 9);
                context.moveTo(x, top + MARK);
                context.lineTo(x, this.curvesTop() - GAP);
                context.stroke();
            } else {
                context.moveTo(x - 4, top + 1);
                context.lineTo(x + 4, top + 1);
                context.lineTo(x, top + 9);
                context.fill();
            }
        }
    }

    private drawTasks(context: CanvasRenderingContext2D, ratio: number): void {
        if (this.lanes.count === 0) return;
        const width = this.width(), height = this.lanes.count * this.laneHeight();
        const picture = this.painter.paint({ from: this.shown[0], to: this.shown[1], width: width * ratio, height: height * ratio, laneHeight: this.laneHeight() * ratio });
        context.drawImage(picture, LABEL, this.lanesTop(), width, height);
    }

    private drawLabels(context: CanvasRenderingContext2D, back: string, fore: string): void {
        context.fillStyle = back;
        context.fillRect(0, 0, LABEL - 2, this.canvas.height);
        context.fillStyle = fore;
        if (this.report.jobs.length > 0) context.fillText("jobs", 2, AXIS + JOB / 2);
        if (this.marks.length > 0) context.fillText("went wrong", 2, this.marksTop() + MARK / 2, LABEL - 6);
        let lastY = -Infinity;
        this.report.executors.forEach((executor, i) => {
            const last = this.lanes.first[i + 1] ?? this.lanes.count;
            const y = this.lanesTop() + this.lanes.first[i]! * this.laneHeight() + 6;
            if (last === this.lanes.first[i] || y - lastY < 11) return;
            lastY = y;
            context.fillText(executor.id === "driver" ? "driver" : `executor ${executor.id}`, 2, y, LABEL - 6);
        });
    }

    private taskAt(x: number, y: number): number {
        const lane = Math.floor((y - this.lanesTop()) / this.laneHeight()), at = this.time(x);
        const slack = (this.shown[1] - this.shown[0]) / this.width();
        const { launch_ms: launch, duration_ms: took } = this.report.tasks;
        if (x < LABEL || lane < 0 || lane >= this.lanes.count) return -1;
        for (let i = 0; i < launch.length; i++)
            if (this.lanes.lane[i] === lane && launch[i]! - slack <= at && at <= launch[i]! + Math.max(took[i]!, 1) + slack) return i;
        return -1;
    }

    private startDrag(event: PointerEvent): void {
        if (event.offsetX < LABEL) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.dragFrom = this.dragTo = event.offsetX;
    }

    private move(event: PointerEvent): void {
        if (this.dragFrom !== null) {
            this.dragTo = event.offsetX;
            this.hint.hidden = true;
            this.draw();
            return;
        }
        const task = this.taskAt(event.offsetX, event.offsetY);
        const shown = task >= 0 ? this.taskHint(task) : this.markHint(event.offsetX, event.offsetY) ?? this.curveHint(event.offsetX, event.offsetY);
        this.hint.hidden = shown === null;
        if (shown === null) return;
        this.hint.replaceChildren(...shown);
        const box = this.host.getBoundingClientRect();
        this.hint.style.left = `${Math.min(event.clientX + 14, Math.max(box.right - 320, 4))}px`;
        this.hint.style.top = `${event.clientY + 16}px`;
    }

    private markHint(x: number, y: number): Node[] | null {
        const found = this.marks.filter((mark) => Math.abs(this.x(mark.ms) - x) <= 5);
        if (found.length === 0 || y < this.marksTop() || y > this.marksTop() + MARK) return null;
        return found.slice(0, 4).flatMap((mark) => [element("div", { class: "hint-name" }, `${moment(mark.ms)} ${mark.name}`),
                                                    element("div", { class: "hint-place" }, mark.text.slice(0, 400))]);
    }

    private curveHint(x: number, y: number): Node[] | null {
        const told = x < LABEL ? null : this.curves.describe(y - this.curvesTop(), this.time(x), this.whole[0]);
        if (!told) return null;
        return [element("div", { class: "hint-name" }, told.name),
                element("dl", {}, ...told.values.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]))];
    }

    private endDrag(event: PointerEvent): void {
        const from = this.dragFrom;
        this.dragFrom = null;
        if (from === null) return;
        if (Math.abs(event.offsetX - from) > 4) {
            this.show([this.time(Math.min(from, event.offsetX)), this.time(Math.max(from, event.offsetX))]);
            return;
        }
        this.draw();
        const task = this.taskAt(event.offsetX, event.offsetY);
        if (task >= 0) this.choose(this.report.tasks.stage[task]!);
    }

    private key(event: KeyboardEvent): void {
        const [from, to] = this.shown, wide = to - from;
        if (event.key === "ArrowLeft") this.show([from - wide / 4, to - wide / 4]);
        else if (event.key === "ArrowRight") this.show([from + wide / 4, to + wide / 4]);
        else if (event.key === "+" || event.key === "=") this.show([from + wide / 4, to - wide / 4]);
        else if (event.key === "-") this.show([from - wide / 2, to + wide / 2]);
        else if (event.key === "Home" || event.key === "0") this.show(this.whole);
        else return;
        event.preventDefault();
    }

    private taskHint(task: number): Node[] {
        const tasks = this.report.tasks, stage = this.report.stages[tasks.stage[task]!]!;
        const line = (name: string, text: string): Node[] => [element("dt", {}, name), element("dd", {}, text)];
        return [
            element("div", { class: "hint-name" }, `task ${tasks.index[task]}.${tasks.attempt[task]} in stage ${stage.id}.${stage.attempt} (TID ${tasks.id[task]})`),
            element("div", { class: "hint-place" }, stage.title ?? stage.name ?? ""),
            element("dl", {}, ...line("status", TASK_STATUS[tasks.status[task]!] ?? "?"), ...line("launched", moment(tasks.launch_ms[task]!)),
                    ...line("took", duration(tasks.duration_ms[task]!)), ...line("on the CPU", duration(tasks.cpu_ns[task]! / 1e6)),
                    ...line("collecting", duration(tasks.gc_ms[task]!))),
        ];
    }
}
