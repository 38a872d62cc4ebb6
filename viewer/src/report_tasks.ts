// Paints tasks pixel by pixel, so that a million of them take no longer than reading them once.
import type { TaskColumns } from "./report_model.js";

/** Where lanes lie, in pixels of the screen. */
export interface LaneScale {
    /** Moments at the left and right edge. */
    from: number; to: number;
    width: number; height: number;
    laneHeight: number;
}

const FAILED = 2, KILLED = 3;

function pack(red: number, green: number, blue: number, alpha: number): number {
    return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Neighbours differ, and none is the red of what failed. */
function stageColour(stage: number): number {
    const hue = 40 + (170 + stage * 137.5) % 290, chroma = 0.45, lightness = 0.55;
    const part = (shift: number): number => {
        const place = (shift + hue / 30) % 12;
        return Math.round(255 * (lightness - chroma * 0.5 * Math.max(-1, Math.min(place - 3, 9 - place, 1))));
    };
    return pack(part(0), part(8), part(4), 255);
}

export class TaskPainter {
    private readonly canvas = document.createElement("canvas");
    private readonly colours: Uint32Array;
    /** The scale of the picture that is there. */
    private painted = "";

    constructor(private readonly tasks: TaskColumns, private readonly lane: Int32Array, stageIds: number[]) {
        this.colours = Uint32Array.from(stageIds, stageColour);
    }

    /** A picture of the lanes, transparent where nothing runs. */
    paint(scale: LaneScale): HTMLCanvasElement {
        const width = Math.max(1, Math.round(scale.width)), height = Math.max(1, Math.round(scale.height));
        const painted = Object.values(scale).join(" ");
        if (painted === this.painted) return this.canvas;
        this.painted = painted;
        this.canvas.width = width;
        this.canvas.height = height;
        const image = new ImageData(width, height);
        const lanes = Math.ceil(scale.height / scale.laneHeight);
        this.copyLanes(this.fillLanes(lanes, width, scale), new Uint32Array(image.data.buffer), width, height, scale.laneHeight);
        this.canvas.getContext("2d")!.putImageData(image, 0, 0);
        return this.canvas;
    }

    /** One row of pixels per lane. What failed comes last, so that nothing hides it. */
    private fillLanes(lanes: number, width: number, scale: LaneScale): Uint32Array {
        const { launch_ms: launch, duration_ms: took, stage, status } = this.tasks, { lane, colours } = this;
        const pixels = new Uint32Array(lanes * width), perMs = width / (scale.to - scale.from), red = pack(0xd3, 0x3c, 0x3c, 255);
        const failed: number[] = [];
        const fill = (i: number, colour: number): void => {
            let left = Math.round((launch[i]! - scale.from) * perMs);
            let right = Math.round((launch[i]! + Math.max(took[i]!, 1) - scale.from) * perMs);
            if (right < 0 || left >= width) return;
            if (right - left > 3) right--;
            left = Math.max(left, 0);
            right = Math.min(Math.max(right, left + 1), width);
            const row = lane[i]! * width;
            for (let at = row + left; at < row + right; at++) pixels[at] = colour;
        };
        for (let i = 0; i < launch.length; i++) {
            if (lane[i]! < 0 || lane[i]! >= lanes) continue;
            const colour = colours[stage[i]!]!;
            if (status[i] === FAILED) failed.push(i);
            else fill(i, status[i] === KILLED ? (colour & 0xffffff | 0x66000000) >>> 0 : colour);
        }
        for (const i of failed) fill(i, red);
        return pixels;
    }

    /** Lanes lower than a pixel share one; the last that has something there shows. */
    private copyLanes(rows: Uint32Array, pixels: Uint32Array, width: number, height: number, high: number): void {
        const gap = high >= 5 ? 1 : 0, lanes = rows.length / width;
        for (let lane = 0; lane < lanes; lane++) {
            const row = rows.subarray(lane * width, (lane + 1) * width);
            const top = Math.round(lane * high), bottom = Math.min(Math.max(Math.round((lane + 1) * high) - gap, top + 1), height);
            for (let y = top; y < bottom; y++) {
                if (high >= 1) pixels.set(row, y * width);
                else for (let x = 0; x < width; x++) if (row[x] !== 0) pixels[y * width + x] = row[x]!;
            }
        }
    }
}
