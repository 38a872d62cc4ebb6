// Samples over time as a heat map, one row per group; a dragged range restricts everything else.
import { formatMoment, formatRange } from "./numbers.js";
import type { Meta, TimeScale } from "./profile.js";

export interface StripData {
    /** One per row. */
    labels: string[];
    /** Per row: weight of each tick. */
    rows: Float64Array[];
    colors: string[];
}

const ROW_HEIGHT = 14;
const SINGLE_HEIGHT = 40;
const LABEL_WIDTH = 130;
const AXIS_HEIGHT = 16;

export class TimeStrip {
    readonly host = document.createElement("div");
    readonly canvas = document.createElement("canvas");
    private data: StripData = { labels: [], rows: [], colors: [] };
    private range: [number, number] | null = null;
    private dragFrom = -1;
    private dark = false;

    constructor(private readonly meta: Meta, private readonly change: (range: [number, number] | null, done: boolean) => void) {
        this.host.className = "strip";
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("role", "application");
        this.canvas.setAttribute("aria-roledescription", "time range");
        this.host.append(this.canvas);
        new ResizeObserver(() => this.draw()).observe(this.host);
        this.listen();
    }

    private get ticks(): number {
        return this.meta.time!.ticks;
    }

    private listen(): void {
        const { canvas } = this;
        canvas.addEventListener("pointerdown", (event) => {
            if (event.button !== 0) return;
            canvas.setPointerCapture(event.pointerId);
            this.dragFrom = this.tickAt(event.clientX);
        });
        canvas.addEventListener("pointermove", (event) => {
            if (this.dragFrom >= 0) this.setRange(this.dragFrom, this.tickAt(event.clientX), false);
        });
        canvas.addEventListener("pointerup", (event) => {
            if (this.dragFrom < 0) return;
            const to = this.tickAt(event.clientX);
            // A click without a drag takes the range off.
            if (to === this.dragFrom) this.clear();
            else this.setRange(this.dragFrom, to, true);
            this.dragFrom = -1;
        });
        canvas.addEventListener("pointercancel", () => (this.dragFrom = -1));
        canvas.addEventListener("keydown", (event) => this.key(event));
    }

    private key(event: KeyboardEvent): void {
        const way = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
        if (event.key === "Escape" && this.range) {
            event.stopPropagation();
            this.clear();
        } else if (way !== 0) {
            event.preventDefault();
            const width = Math.max(1, Math.round(this.ticks / 20));
            const [from, to] = this.range ?? [0, width - 1];
            const moved = event.shiftKey ? [from, to + way * width] : [from + way * width, to + way * width];
            if (moved[0]! >= 0 && moved[1]! < this.ticks + width && moved[1]! > moved[0]!) this.setRange(moved[0]!, moved[1]!, true);
        }
    }

    private clear(): void {
        this.range = null;
        this.draw();
        this.change(null, true);
    }

    private setRange(one: number, other: number, done: boolean): void {
        const clamp = (tick: number): number => Math.max(0, Math.min(this.ticks - 1, tick));
        this.range = [clamp(Math.min(one, other)), clamp(Math.max(one, other))];
        this.draw();
        this.change(this.range, done);
    }

    private tickAt(clientX: number): number {
        const bounds = this.canvas.getBoundingClientRect();
        const left = this.left();
        const share = (clientX - bounds.left - left) / Math.max(1, bounds.width - left);
        return Math.max(0, Math.min(this.ticks - 1, Math.floor(share * this.ticks)));
    }

    private left(): number {
        return this.data.rows.length > 1 ? LABEL_WIDTH : 0;
    }

    show(data: StripData, range: [number, number] | null, dark: boolean): void {
        this.data = data;
        this.dark = dark;
        if (this.dragFrom < 0) this.range = range;
        this.draw();
    }

    describe(range: [number, number]): string {
        return formatRange(range[0], range[1] + 1, this.meta.time!);
    }

    private draw(): void {
        const width = this.host.clientWidth;
        if (width === 0) return;
        const rows = this.data.rows.length;
        const body = rows > 1 ? rows * ROW_HEIGHT : SINGLE_HEIGHT;
        const height = body + AXIS_HEIGHT;
        const ratio = window.devicePixelRatio || 1;
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        this.canvas.style.width = `${width}px`;
        this.canvas.style.height = `${height}px`;
        const what = this.range ? `restricted to ${this.describe(this.range)}` : "all of it";
        this.canvas.setAttribute("aria-label", `Samples over time, ${what}. Arrow keys move a range, Shift widens it, Escape removes it.`);
        const context = this.canvas.getContext("2d")!;
        context.scale(ratio, ratio);
        context.font = "11px system-ui, sans-serif";
        this.drawRows(context, width, body);
        this.drawAxis(context, width, body);
        this.drawRange(context, width, body);
    }

    private drawRows(context: CanvasRenderingContext2D, width: number, body: number): void {
        const left = this.left();
        const columns = Math.max(1, Math.min(this.ticks, Math.floor((width - left) / 3)));
        const cell = (width - left) / columns;
        const sums = this.data.rows.map((row) => {
            const sum = new Float64Array(columns);
            for (let tick = 0; tick < this.ticks; tick++) sum[Math.floor((tick * columns) / this.ticks)]! += row[tick]!;
            return sum;
        });
        const single = sums.length === 1;
        sums.forEach((sum, index) => {
            const highest = sum.reduce((most, value) => Math.max(most, value), 0) || 1;
            const y = index * ROW_HEIGHT;
            context.fillStyle = this.dark ? "#ccc" : "#333";
            if (!single) context.fillText(shorten(this.data.labels[index]!, 20), 4, y + 11);
            context.fillStyle = this.data.colors[index] ?? "#888";
            for (let column = 0; column < columns; column++) {
                const share = sum[column]! / highest;
                if (share <= 0) continue;
                const tall = single ? Math.max(1, share * body) : ROW_HEIGHT - 2;
                context.globalAlpha = 0.15 + 0.85 * share;
                context.fillRect(left + column * cell, single ? body - tall : y + 1, Math.max(1, cell - 0.5), tall);
            }
            context.globalAlpha = 1;
        });
    }

    private drawAxis(context: CanvasRenderingContext2D, width: number, body: number): void {
        const time = this.meta.time!;
        const left = this.left();
        context.fillStyle = this.dark ? "#aaa" : "#555";
        context.textAlign = "center";
        for (const { tick, text } of axisMarks(time, 0, this.ticks, width - left)) {
            const x = left + (tick / this.ticks) * (width - left);
            context.fillRect(Math.round(x), body, 1, 3);
            if (x > left + 25 && x < width - 25) context.fillText(text, x, body + 13);
        }
        context.textAlign = "left";
        if (!time.absolute) context.fillText("0", left + 2, body + 13);
    }

    private drawRange(context: CanvasRenderingContext2D, width: number, body: number): void {
        if (!this.range) return;
        const left = this.left();
        const at = (tick: number): number => left + (tick / this.ticks) * (width - left);
        context.fillStyle = this.dark ? "rgba(0,0,0,.6)" : "rgba(255,255,255,.7)";
        context.fillRect(left, 0, at(this.range[0]) - left, body);
        context.fillRect(at(this.range[1] + 1), 0, width - at(this.range[1] + 1), body);
        context.strokeStyle = this.dark ? "#7cc4ff" : "#0b57d0";
        context.lineWidth = 2;
        context.strokeRect(at(this.range[0]), 1, Math.max(2, at(this.range[1] + 1) - at(this.range[0])), body - 2);
    }
}

/** Round moments between two ticks, about 110 pixels apart. */
export function axisMarks(time: TimeScale, from: number, to: number, pixels: number): { tick: number; text: string }[] {
    const step = roundStep(((to - from) * time.tick_ns * 110) / Math.max(110, pixels)) / time.tick_ns;
    // Clock times are marked at whole seconds, not at whole distances from the start.
    const start = time.absolute ? -((time.start_ms * 1e6) / time.tick_ns % step) : 0;
    const marks: { tick: number; text: string }[] = [];
    for (let i = Math.ceil((from - start) / step); start + i * step <= to && marks.length < 200; i++) {
        const tick = start + i * step;
        marks.push({ tick, text: formatMoment(tick, time) });
    }
    return marks;
}

/** The next larger of 1, 2, 5 times a power of ten, or of whole minutes and hours, in ns. */
function roundStep(least: number): number {
    for (let power = 1; power <= 1e10; power *= 10) {
        for (const factor of [1, 2, 5]) if (power * factor >= least && power * factor <= 30e9) return power * factor;
    }
    const minute = 60e9;
    for (const minutes of [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440]) if (minutes * minute >= least) return minutes * minute;
    return Math.ceil(least / (1440 * minute)) * 1440 * minute;
}

/** Threads of one pool differ at the end of their names, so that is kept. */
function shorten(text: string, most: number): string {
    return text.length > most ? `${text.slice(0, most - 13)}…${text.slice(-12)}` : text;
}
