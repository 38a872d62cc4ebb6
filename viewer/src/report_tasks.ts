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

    constructor(private readonly tasks: TaskColumns, private readonly lane: Int32Array, stageIds: number[]) {
        this.colours = Uint32Array.from(stageIds, stageColour);
    }

    /** A picture of the lanes, transparent where nothing runs. */
    paint(scale: LaneScale): HTMLCanvasElement {
        const width = Math.max(1, Math.round(scale.width)), height = Math.max(1, Math.round(scale.height));
        this.canvas.width = width;
        this.canvas.height = height;
        const image = new ImageData(width, height);
        const pixels = new Uint32Array(image.data.buffer);
        this.fill(pixels, width, height, scale, false);
        this.fill(pixels, width, height, scale, true);
        this.canvas.getContext("2d")!.putImageData(image, 0, 0);
        return this.canvas;
    }

    /** What failed comes last, so that nothing hides it. */
    private fill(pixels: Uint32Array, width: number, height: number, scale: LaneScale, failed: boolean): void {
        const { launch_ms: launch, duration_ms: took, stage, status } = this.tasks;
        const perMs = width / (scale.to - scale.from), high = scale.laneHeight;
        const gap = high >= 5 ? 1 : 0, red = pack(0xd3, 0x3c, 0x3c, 255);
        for (let i = 0; i < launch.length; i++) {
            const lane = this.lane[i]!;
            if (lane < 0 || (status[i] === FAILED) !== failed) continue;
            let left = Math.round((launch[i]! - scale.from) * perMs);
            let right = Math.round((launch[i]! + Math.max(took[i]!, 1) - scale.from) * perMs);
            if (right < 0 || left >= width) continue;
            if (right - left > 3) right--;
            left = Math.max(left, 0);
            right = Math.min(Math.max(right, left + 1), width);
            const top = Math.round(lane * high), bottom = Math.min(Math.max(Math.round((lane + 1) * high) - gap, top + 1), height);
            let colour = failed ? red : this.colours[stage[i]!]!;
            if (status[i] === KILLED) colour = (colour & 0xffffff | 0x66000000) >>> 0;
            for (let row = top; row < bottom; row++) pixels.fill(colour, row * width + left, row * width + right);
        }
    }
}
