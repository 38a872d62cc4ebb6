// Numbers over time below the lanes of the timeline: active tasks, and the metrics of processes.
import { bytes, Curve, duration, Report } from "./report_model.js";

const PANEL = 44, GAP = 8, LEGEND = 16, MOST_NAMES = 12;
/** Values that a hint lists. */
const MOST_VALUES = 8;

/** A number of one process. */
interface Line { name: string; points: [number, number][] }

interface Panel {
    title: string;
    unit: string;
    lines: Line[];
    most: number;
    /** Of a number that is known at every moment. */
    at?: (ms: number) => number;
}

/** Where the panels are drawn, and how a moment becomes a place. */
export interface Frame {
    left: number; width: number; top: number; fore: string; soft: string; line: string; dark: boolean;
    x(ms: number): number;
    time(x: number): number;
}

const TITLES: [string, string[], string][] = [
    ["CPU", ["cpu"], "cores"], ["heap", ["heap"], "bytes"], ["off-heap", ["off_heap"], "bytes"], ["GC", ["gc"], "share"],
    ["RSS of JVMs", ["rss"], "bytes"], ["RSS of Python", ["python_rss"], "bytes"], ["disk I/O", ["read", "written"], "bytes per second"],
];

export function formatNumber(value: number, unit: string): string {
    if (unit === "bytes") return value === 0 ? "0 B" : bytes(value);
    if (unit === "bytes per second") return value === 0 ? "0 B/s" : `${bytes(Math.round(value))}/s`;
    if (unit === "share") return `${(100 * value).toFixed(1)} %`;
    if (unit === "cores") return `${value.toFixed(2)} cores`;
    return value.toLocaleString("en");
}

/** How many of the sorted moments are not after this one. */
function countUpTo(sorted: Float64Array, ms: number): number {
    let low = 0, high = sorted.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (sorted[middle]! <= ms) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** Tasks that run at a moment. */
export function activeTasks(report: Report): { at: (ms: number) => number; most: number } {
    const { launch_ms: launch, duration_ms: took } = report.tasks;
    const starts = new Float64Array(launch.length), ends = new Float64Array(launch.length);
    let count = 0;
    for (let i = 0; i < launch.length; i++) {
        if (launch[i]! < 0 || took[i]! < 0) continue;
        starts[count] = launch[i]!;
        ends[count++] = launch[i]! + Math.max(took[i]!, 1);
    }
    const from = starts.subarray(0, count).sort(), to = ends.subarray(0, count).sort();
    let most = 0;
    for (let i = 0, ended = 0; i < count; i++) {
        while (to[ended]! <= from[i]!) ended++;
        most = Math.max(most, i + 1 - ended);
    }
    return { at: (ms) => countUpTo(from, ms) - countUpTo(to, ms), most };
}

function lineName(curve: Curve): string {
    const process = curve.process ?? "process";
    const name = curve.role === "python" && !process.startsWith("Python ") ? `Python ${process}` : process;
    return curve.curve === "read" || curve.curve === "written" ? `${name} ${curve.curve}` : name;
}

/** The value of the last point that is not after the moment; NaN before the first. */
function valueAt(points: [number, number][], ms: number): number {
    let low = 0, high = points.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (points[middle]![0] <= ms) low = middle + 1;
        else high = middle;
    }
    return low === 0 ? NaN : points[low - 1]![1];
}

export class Curves {
    private readonly panels: Panel[] = [];
    private readonly colours = new Map<string, number>();

    constructor(report: Report) {
        if (report.tasks.id.length > 0) {
            const { at, most } = activeTasks(report);
            this.panels.push({ title: "active tasks", unit: "tasks", lines: [], most, at });
        }
        for (const [title, names, unit] of TITLES) {
            const lines = (report.curves ?? []).filter((curve) => names.includes(curve.curve))
                .map((curve) => ({ name: lineName(curve), points: curve.points }));
            if (lines.length === 0) continue;
            const most = lines.reduce((largest, line) => line.points.reduce((sofar, [, value]) => Math.max(sofar, value), largest), 0);
            this.panels.push({ title, unit, lines, most });
            for (const line of lines) if (!this.colours.has(line.name)) this.colours.set(line.name, this.colours.size);
        }
    }

    get height(): number {
        return this.panels.length * (PANEL + GAP) + (this.colours.size > 0 ? LEGEND : 0);
    }

    get names(): string[] {
        return this.panels.map((panel) => panel.title);
    }

    draw(context: CanvasRenderingContext2D, frame: Frame): void {
        this.panels.forEach((panel, i) => {
            const top = frame.top + i * (PANEL + GAP);
            context.strokeStyle = frame.line;
            context.lineWidth = 1;
            context.strokeRect(frame.left + 0.5, top + 0.5, frame.width - 1, PANEL - 1);
            context.save();
            context.beginPath();
            context.rect(frame.left, top, frame.width, PANEL);
            context.clip();
            if (panel.at) this.drawArea(context, frame, panel, top);
            for (const line of panel.lines) this.drawLine(context, frame, panel, line, top);
            context.restore();
        });
    }

    private drawLegend(context: CanvasRenderingContext2D, frame: Frame): void {
        let x = frame.left;
        const y = frame.top + this.panels.length * (PANEL + GAP) + LEGEND / 2 - 4;
        for (const name of [...this.colours.keys()].slice(0, MOST_NAMES)) {
            const width = context.measureText(name).width;
            if (x + width + 24 > frame.left + frame.width) return;
            context.fillStyle = this.colour(name, frame.dark);
            context.fillRect(x, y - 1, 12, 3);
            context.fillStyle = frame.soft;
            context.fillText(name, x + 16, y);
            x += width + 30;
        }
    }

    /** To be drawn after what hides lines left of the axis. */
    drawTitles(context: CanvasRenderingContext2D, frame: Frame): void {
        this.panels.forEach((panel, i) => {
            const top = frame.top + i * (PANEL + GAP);
            context.fillStyle = frame.fore;
            context.fillText(panel.title, 2, top + 8, frame.left - 6);
            context.fillStyle = frame.soft;
            context.fillText(formatNumber(panel.most, panel.unit), 2, top + 23, frame.left - 6);
        });
        this.drawLegend(context, frame);
    }

    private drawArea(context: CanvasRenderingContext2D, frame: Frame, panel: Panel, top: number): void {
        context.fillStyle = frame.dark ? "#5b8fd6" : "#7aa7e8";
        for (let x = 0; x < frame.width; x++) {
            const high = panel.at!(frame.time(frame.left + x + 0.5)) / Math.max(panel.most, 1) * (PANEL - 2);
            if (high > 0) context.fillRect(frame.left + x, top + PANEL - high, 1, high);
        }
    }

    private colour(name: string, dark: boolean): string {
        return `hsl(${(210 + (this.colours.get(name) ?? 0) * 137.5) % 360} 60% ${dark ? 65 : 42}%)`;
    }

    private drawLine(context: CanvasRenderingContext2D, frame: Frame, panel: Panel, line: Line, top: number): void {
        const y = (value: number): number => top + PANEL - 2 - value / (panel.most > 0 ? panel.most : 1) * (PANEL - 4);
        context.strokeStyle = this.colour(line.name, frame.dark);
        context.lineWidth = 1.25;
        context.beginPath();
        let last: [number, number] | null = null, begun = false;
        for (const [ms, value] of line.points) {
            const at: [number, number] = [frame.x(ms), y(value)];
            if (at[0] < frame.left) {
                last = at;
                continue;
            }
            if (!begun && last) context.moveTo(...last);
            if (!begun && !last) context.moveTo(...at);
            begun = true;
            context.lineTo(...at);
            if (at[0] > frame.left + frame.width) break;
        }
        context.stroke();
    }

    /** Heading and values at a place; null outside of the panels. */
    describe(y: number, ms: number, start: number): { name: string; values: [string, string][] } | null {
        const panel = this.panels[Math.floor(y / (PANEL + GAP))];
        if (y < 0 || !panel) return null;
        const name = `${panel.title} at +${duration(Math.max(0, ms - start))}`;
        if (panel.at) return { name, values: [["tasks", String(panel.at(ms))]] };
        const values = panel.lines.map((line): [string, number] => [line.name, valueAt(line.points, ms)])
            .filter(([, value]) => !Number.isNaN(value)).sort((a, b) => b[1] - a[1]).slice(0, MOST_VALUES)
            .map(([line, value]): [string, string] => [line, formatNumber(value, panel.unit)]);
        return { name, values };
    }
}
