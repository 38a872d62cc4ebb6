// Recordings over time as bars; a range is chosen by dragging, or with the arrow keys and Shift.
import type { Series } from "./console_api.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000, HEIGHT = 90;

function shape(tag: string, attributes: Record<string, string | number>): SVGElement {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    return made;
}

export class ConsoleTimeline {
    readonly node: SVGElement;
    private series: Series = { from_ms: 0, to_ms: 1, step_ms: 1, series: [] };
    private range: [number, number] | null = null;
    private dragFrom: number | null = null;

    constructor(private readonly choose: (range: [number, number] | null) => void) {
        this.node = shape("svg", { id: "timeline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", tabindex: 0 });
        this.node.addEventListener("pointerdown", (event) => this.begin(event));
        this.node.addEventListener("pointermove", (event) => this.move(event));
        this.node.addEventListener("pointerup", (event) => this.end(event));
        this.node.addEventListener("dblclick", () => this.choose(null));
        this.node.addEventListener("keydown", (event) => this.key(event));
    }

    show(series: Series, range: [number, number] | null): void {
        this.series = series;
        this.range = range;
        this.draw();
    }

    private timeAt(event: PointerEvent): number {
        const box = this.node.getBoundingClientRect();
        const share = Math.min(1, Math.max(0, (event.clientX - box.left) / Math.max(1, box.width)));
        return this.series.from_ms + share * (this.series.to_ms - this.series.from_ms);
    }

    private placeOf(timeMs: number): number {
        const whole = Math.max(1, this.series.to_ms - this.series.from_ms);
        return Math.min(WIDTH, Math.max(0, ((timeMs - this.series.from_ms) / whole) * WIDTH));
    }

    private begin(event: PointerEvent): void {
        this.dragFrom = this.timeAt(event);
        this.node.setPointerCapture(event.pointerId);
    }

    private move(event: PointerEvent): void {
        if (this.dragFrom === null) return;
        const at = this.timeAt(event);
        this.range = [Math.min(at, this.dragFrom), Math.max(at, this.dragFrom)];
        this.draw();
    }

    private end(event: PointerEvent): void {
        if (this.dragFrom === null) return;
        const from = this.dragFrom, to = this.timeAt(event), step = this.series.step_ms;
        this.dragFrom = null;
        // A click chooses the step it is in.
        const begin = this.series.from_ms + Math.floor((Math.min(from, to) - this.series.from_ms) / step) * step;
        const end = this.series.from_ms + (Math.floor((Math.max(from, to) - this.series.from_ms) / step) + 1) * step;
        this.choose([Math.floor(begin), Math.ceil(end)]);
    }

    private key(event: KeyboardEvent): void {
        if (event.key === "Escape") {
            this.choose(null);
        } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
            const by = event.key === "ArrowLeft" ? -this.series.step_ms : this.series.step_ms;
            const [from, to] = this.range ?? [this.series.from_ms, this.series.from_ms + this.series.step_ms];
            const next: [number, number] = event.shiftKey ? [from, Math.max(from + this.series.step_ms, to + by)] : [Math.max(0, from + by), to + by];
            this.choose(this.range === null ? [from, to] : next);
            event.preventDefault();
        }
    }

    private draw(): void {
        const { series, step_ms } = this.series;
        const most = series.reduce((sum, step) => Math.max(sum, step.recordings), 1);
        const parts: SVGElement[] = [];
        for (const step of series) {
            const left = this.placeOf(step.time_ms), right = this.placeOf(step.time_ms + step_ms);
            const height = Math.max(2, (step.recordings / most) * (HEIGHT - 4));
            const bar = shape("rect", { class: "bar", x: left, y: HEIGHT - height, width: Math.max(1, right - left - 0.6), height });
            const title = shape("title", {});
            title.textContent = `${new Date(step.time_ms).toLocaleString()}: ${step.recordings} recordings of ${step.executors} executors`;
            bar.append(title);
            parts.push(bar);
        }
        if (this.range !== null) {
            const left = this.placeOf(this.range[0]), right = this.placeOf(this.range[1]);
            parts.push(shape("rect", { class: "range", x: left, y: 0, width: Math.max(2, right - left), height: HEIGHT }));
        }
        this.node.setAttribute("aria-label", `Recordings over time, ${series.length} steps; drag to choose a range`);
        this.node.replaceChildren(...parts);
    }
}
