// One flame graph on a canvas: draws only rows on screen, knows pointer, touch and keys, and tells its owner.
import { inkOn } from "./colors.js";
import { besides, boxAt, childrenOf, firstBeyond, type Tree } from "./tree.js";

export const ROW = 18;
const FONT = '12px ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace';
const PADDING = 4;
/** Browsers do not make elements of any height; beyond this one pixel of scrolling moves further. */
const MOST_SCROLL_PIXELS = 8_000_000;
/** Boxes thinner than this are drawn together, in stripes about this wide. */
const THIN = 0.75;
const STRIPE = 4;
const LONG_PRESS_MS = 550;

export interface Look {
    tree: Tree;
    /** Roots at the top. */
    icicle: boolean;
    zoom: number;
    /** 1 leaves the root out, where the level below it has one box. */
    firstLevel: number;
    color(node: number): string;
    text(node: number): string;
    /** Keys that match the search, or null. */
    matched: Uint8Array | null;
    /** Drawn with a frame: -1 none, 1 only after, 2 only before. */
    mark?: ((node: number) => number) | null;
    dark: boolean;
    /** Of a chart: moments to mark at the upper edge, by their x. */
    axis?: (from: number, to: number, pixels: number) => { tick: number; text: string }[];
}

export interface FlameHooks {
    zoom(node: number): void;
    hover(node: number, x: number, y: number): void;
    menu(node: number, x: number, y: number): void;
    remove(node: number): void;
    focus(node: number): void;
    drawn(view: FlameView): void;
}

/** The short form of a name for narrow boxes: "RDD.map" of "org/apache/spark/rdd/RDD.map". */
export function shortName(text: string): string {
    const head = /^[^( ]*/.exec(text)![0];
    let slash = head.lastIndexOf("/");
    // "Job$$Lambda$1/0x00007f0b84dd1c88.apply": the last part is an address, not the class.
    if (slash > 0 && /^\/(0x)?[0-9a-f]+\b/.test(head.slice(slash))) slash = head.lastIndexOf("/", slash - 1);
    if (slash >= 0) return text.slice(slash + 1);
    // "App$$Lambda$75.0x00007ff44c0c4208.call": the address belongs to the class.
    const parts = head.replace(/\.0x(?=[0-9a-f]+\.)/, "\n0x").split(".");
    return parts.length > 2 && !head.includes(":") ? text.slice(head.length - parts.slice(-2).join(".").length) : text;
}

export class FlameView {
    readonly host = document.createElement("div");
    readonly canvas = document.createElement("canvas");
    private readonly spacer = document.createElement("div");
    private look: Look | null = null;
    private width = 0;
    private height = 0;
    private charWidth = 7.2;
    private drawAsked = false;
    private hovered = -1;
    /** Box that keys move from, and the current search match. */
    focused = -1;
    private pressTimer = 0;
    private pressed: { x: number; y: number; touch: boolean } | null = null;
    /** The menu opened by a long press; the click that follows is not one. */
    private swallowClick = false;

    constructor(private readonly hooks: FlameHooks, label: string) {
        this.host.className = "flame";
        this.spacer.className = "flame-spacer";
        this.canvas.tabIndex = 0;
        this.canvas.setAttribute("role", "application");
        this.canvas.setAttribute("aria-roledescription", "flame graph");
        this.canvas.setAttribute("aria-label", label);
        this.host.append(this.canvas, this.spacer);
        this.host.addEventListener("scroll", () => this.redraw(), { passive: true });
        new ResizeObserver(() => this.resize()).observe(this.host);
        this.listen();
    }

    private listen(): void {
        const { canvas } = this;
        canvas.addEventListener("mousemove", (event) => this.setHover(event.clientX, event.clientY));
        canvas.addEventListener("mouseleave", () => this.clearHover());
        canvas.addEventListener("click", (event) => this.click(event));
        canvas.addEventListener("contextmenu", (event) => {
            const node = this.nodeAt(event.clientX, event.clientY);
            if (node < 0) return;
            event.preventDefault();
            this.hooks.menu(node, event.clientX, event.clientY);
        });
        canvas.addEventListener("pointerdown", (event) => {
            this.swallowClick = false;
            this.pressed = { x: event.clientX, y: event.clientY, touch: event.pointerType !== "mouse" };
            if (this.pressed.touch) this.pressTimer = window.setTimeout(() => this.longPress(), LONG_PRESS_MS);
        });
        canvas.addEventListener("pointermove", (event) => {
            const moved = this.pressed && Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) > 10;
            if (moved) window.clearTimeout(this.pressTimer);
        });
        for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => window.clearTimeout(this.pressTimer));
        canvas.addEventListener("keydown", (event) => this.key(event));
    }

    private longPress(): void {
        const node = this.pressed ? this.nodeAt(this.pressed.x, this.pressed.y) : -1;
        if (node < 0 || !this.pressed) return;
        this.swallowClick = true;
        this.hooks.menu(node, this.pressed.x, this.pressed.y);
    }

    private click(event: MouseEvent): void {
        if (this.swallowClick) return;
        const node = this.nodeAt(event.clientX, event.clientY);
        if (node < 0) return;
        if (event.altKey) {
            this.hooks.remove(node);
            return;
        }
        this.setFocus(node, false);
        this.hooks.zoom(node);
    }

    show(look: Look): void {
        const changed = this.look?.tree !== look.tree;
        const turned = this.look?.icicle !== look.icicle;
        this.look = look;
        if (changed) {
            this.hovered = -1;
            this.focused = -1;
        }
        this.resize();
        // Roots first: they are at the bottom of a flame graph.
        if (turned) this.host.scrollTop = look.icicle ? 0 : this.host.scrollHeight;
    }

    private resize(): void {
        const width = this.host.clientWidth;
        const height = this.host.clientHeight;
        if (!this.look || width === 0 || height === 0) return;
        const ratio = window.devicePixelRatio || 1;
        const content = this.content;
        const wasAtEnd = this.host.scrollTop + this.height >= this.host.scrollHeight - 2;
        this.spacer.style.height = `${Math.max(0, Math.min(content, MOST_SCROLL_PIXELS) - height)}px`;
        if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
            this.canvas.style.width = `${width}px`;
            this.canvas.style.height = `${height}px`;
        }
        this.width = width;
        this.height = height;
        if (wasAtEnd && !this.look.icicle) this.host.scrollTop = this.host.scrollHeight;
        this.redraw();
    }

    /** Height of all rows. */
    private get content(): number {
        return this.look ? (this.look.tree.depth - this.look.firstLevel) * ROW : 0;
    }

    /** Content pixel at the top edge. */
    private get top(): number {
        if (this.content <= this.height) return this.look?.icicle ? 0 : this.content - this.height;
        const range = Math.min(this.content, MOST_SCROLL_PIXELS) - this.height;
        return range > 0 ? (this.host.scrollTop / range) * (this.content - this.height) : 0;
    }

    private rowTop(level: number): number {
        const row = level - this.look!.firstLevel;
        return (this.look!.icicle ? row * ROW : this.content - (row + 1) * ROW) - this.top;
    }

    scrollTo(node: number): void {
        if (!this.look) return;
        const y = this.rowTop(this.look.tree.level[node]!);
        if (y >= 0 && y + ROW <= this.height) return;
        const range = Math.min(this.content, MOST_SCROLL_PIXELS) - this.height;
        const wanted = this.top + y - this.height / 2;
        this.host.scrollTop = (wanted / Math.max(1, this.content - this.height)) * range;
        this.redraw();
    }

    redraw(): void {
        if (this.drawAsked) return;
        this.drawAsked = true;
        requestAnimationFrame(() => {
            this.drawAsked = false;
            this.draw();
        });
    }

    private window(): { from: number; scale: number } {
        const { tree, zoom } = this.look!;
        const weight = tree.weight[zoom]!;
        return { from: tree.x[zoom]!, scale: weight > 0 ? this.width / weight : 0 };
    }

    private draw(): void {
        const context = this.canvas.getContext("2d");
        if (!this.look || !context || this.width === 0) return;
        const ratio = window.devicePixelRatio || 1;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.width, this.height);
        context.font = FONT;
        this.charWidth = context.measureText("abcdefghij").width / 10;
        for (const level of this.visibleLevels()) this.drawLevel(context, level, this.rowTop(level), this.width);
        this.drawOutline(context);
        this.drawAxis(context, this.width);
        this.hooks.drawn(this);
    }

    /** In place of the root's row, and there also when that is scrolled away. */
    private drawAxis(context: CanvasRenderingContext2D, width: number): void {
        const { tree, zoom, axis, dark } = this.look!;
        if (!axis) return;
        const from = tree.x[zoom]!;
        const weight = tree.weight[zoom]! || 1;
        context.fillStyle = dark ? "#1f2228" : "#f5f6f8";
        context.fillRect(0, 0, width, ROW - 1);
        for (const { tick, text } of axis(from, from + weight, width)) {
            const x = ((tick - from) / weight) * width;
            context.fillStyle = dark ? "#555c68" : "#b4bac4";
            context.fillRect(Math.round(x), 0, 1, ROW - 1);
            context.fillStyle = dark ? "#c3c8d1" : "#434852";
            context.fillText(text, x + PADDING, 13);
        }
    }

    private levelOfRow(row: number): number {
        const { tree, icicle, firstLevel } = this.look!;
        return icicle ? row + firstLevel : tree.depth - 1 - row;
    }

    visibleLevels(): number[] {
        if (!this.look) return [];
        const levels: number[] = [];
        const rows = this.look.tree.depth - this.look.firstLevel;
        const first = Math.max(0, Math.floor(this.top / ROW));
        const last = Math.min(rows - 1, Math.ceil((this.top + this.height) / ROW));
        for (let row = first; row <= last; row++) levels.push(this.levelOfRow(row));
        return levels;
    }

    /** Boxes of a level from left to right that are at least `least` pixels wide. */
    *boxesOf(level: number, least: number): Generator<number> {
        const { tree, zoom } = this.look!;
        const { from, scale } = this.window();
        const right = from + tree.weight[zoom]!;
        for (let place = firstBeyond(tree, level, from); place < tree.levels[level + 1]!; place++) {
            const node = tree.byLevel[place]!;
            if (tree.x[node]! >= right) return;
            if (tree.weight[node]! * scale >= least) yield node;
        }
    }

    private drawLevel(context: CanvasRenderingContext2D, level: number, y: number, width: number): void {
        const { tree, zoom } = this.look!;
        const { from } = this.window();
        const scale = width / (tree.weight[zoom]! || 1);
        const end = tree.levels[level + 1]!;
        const right = from + tree.weight[zoom]!;
        let place = firstBeyond(tree, level, from);
        while (place < end) {
            const node = tree.byLevel[place]!;
            if (tree.x[node]! >= right) break;
            const left = Math.max(0, (tree.x[node]! - from) * scale);
            const boxWidth = Math.min(width, (tree.x[node]! + tree.weight[node]! - from) * scale) - left;
            if (boxWidth >= THIN) {
                this.drawBox(context, node, left, y, boxWidth);
                place++;
            } else {
                place = this.drawThin(context, level, place, y, from, scale);
            }
        }
    }

    /** Boxes too thin to see one by one: a stripe stands for all that follow without a gap, up to a few pixels. */
    private drawThin(context: CanvasRenderingContext2D, level: number, place: number, y: number, from: number, scale: number): number {
        const { tree } = this.look!;
        const end = tree.levels[level + 1]!;
        const first = tree.byLevel[place]!;
        const left = Math.max(0, (tree.x[first]! - from) * scale);
        let right = left + THIN;
        for (;;) {
            place = firstBeyond(tree, level, from + right / scale, place + 1);
            if (place >= end) break;
            const next = tree.byLevel[place]!;
            const nextLeft = (tree.x[next]! - from) * scale;
            if (nextLeft > right + 0.5 || tree.weight[next]! * scale >= THIN || right - left > STRIPE) break;
            right = Math.max(right, nextLeft) + THIN;
        }
        context.fillStyle = this.fill(first);
        context.fillRect(left, y, right - left, ROW - 1);
        return place;
    }

    private fill(node: number): string {
        const { tree, matched, dark } = this.look!;
        if (matched && node > 0 && matched[tree.key[node]!]) return dark ? "#b5329b" : "#e05ac8";
        return this.look!.color(node);
    }

    private drawBox(context: CanvasRenderingContext2D, node: number, left: number, y: number, width: number): void {
        const { tree, zoom, dark } = this.look!;
        const aboveZoom = node < zoom && tree.end[node]! > zoom;
        context.globalAlpha = aboveZoom ? 0.55 : 1;
        context.fillStyle = this.fill(node);
        const gap = width > 3 ? 1 : width > 1.5 ? 0.5 : 0;
        context.fillRect(left, y, width - gap, ROW - 1);
        const mark = this.look!.mark?.(node) ?? 0;
        if (mark > 0 && width > 6) {
            context.strokeStyle = dark ? "#fff" : "#222";
            context.setLineDash(mark === 2 ? [3, 3] : []);
            context.strokeRect(left + 0.5, y + 0.5, width - gap - 1, ROW - 2);
            context.setLineDash([]);
        }
        if (width > this.charWidth * 3 + PADDING * 2) {
            context.fillStyle = inkOn(this.fill(node));
            context.fillText(this.fit(context, this.look!.text(node), width - gap - PADDING * 2), left + PADDING, y + 13);
        }
        context.globalAlpha = 1;
    }

    private fit(context: CanvasRenderingContext2D, text: string, width: number): string {
        const room = Math.floor(width / this.charWidth);
        if (text.length > room) text = shortName(text);
        if (text.length > room) text = room > 1 ? `${text.slice(0, room - 1)}…` : "";
        // Wide letters need a second look.
        if (/[^\x00-\x7f…]/.test(text)) while (text.length > 1 && context.measureText(text).width > width) text = text.slice(0, -1);
        return text;
    }

    private drawOutline(context: CanvasRenderingContext2D): void {
        for (const [node, color] of [[this.hovered, "hover"], [this.focused, "focus"]] as const) {
            if (node < 0 || node >= this.look!.tree.count) continue;
            const box = this.place(node);
            if (!box || box.width <= 0) continue;
            context.strokeStyle = color === "hover" ? (this.look!.dark ? "#ddd" : "#333") : (this.look!.dark ? "#7cc4ff" : "#0b57d0");
            context.lineWidth = color === "hover" ? 1 : 2;
            context.strokeRect(box.left + 0.5, box.top + 0.5, Math.max(1, box.width - 1.5), ROW - 2);
            context.lineWidth = 1;
        }
    }

    /** Where a box is within the canvas; null if it is outside of the zoomed part. */
    place(node: number): { left: number; top: number; width: number } | null {
        if (!this.look) return null;
        const { tree } = this.look;
        const { from, scale } = this.window();
        const left = Math.max(0, (tree.x[node]! - from) * scale);
        const right = Math.min(this.width, (tree.x[node]! + tree.weight[node]! - from) * scale);
        return right < left ? null : { left, top: this.rowTop(tree.level[node]!), width: right - left };
    }

    nodeAt(clientX: number, clientY: number): number {
        if (!this.look) return -1;
        const bounds = this.canvas.getBoundingClientRect();
        const y = clientY - bounds.top + this.top;
        if (this.look.axis && clientY - bounds.top < ROW) return 0;
        const level = this.levelOfRow(Math.floor(y / ROW));
        if (level < this.look.firstLevel) return -1;
        const { from, scale } = this.window();
        return scale > 0 ? boxAt(this.look.tree, level, from + (clientX - bounds.left) / scale) : -1;
    }

    private setHover(clientX: number, clientY: number): void {
        const node = this.nodeAt(clientX, clientY);
        this.canvas.style.cursor = node >= 0 ? "pointer" : "default";
        if (node !== this.hovered) {
            this.hovered = node;
            this.redraw();
        }
        this.hooks.hover(node, clientX, clientY);
    }

    private clearHover(): void {
        this.hovered = -1;
        this.hooks.hover(-1, 0, 0);
        this.redraw();
    }

    setFocus(node: number, tell = true): void {
        this.focused = node;
        if (node >= 0) this.scrollTo(node);
        if (tell && node >= 0) this.hooks.focus(node);
        this.redraw();
    }

    private key(event: KeyboardEvent): void {
        if (!this.look || event.ctrlKey || event.metaKey || event.altKey) return;
        const outward = this.look.icicle ? "ArrowUp" : "ArrowDown";
        const inward = this.look.icicle ? "ArrowDown" : "ArrowUp";
        const at = this.focused >= 0 ? this.focused : this.look.zoom;
        if (event.key === outward || event.key === inward || event.key === "ArrowLeft" || event.key === "ArrowRight") {
            event.preventDefault();
            if (this.focused < 0) this.setFocus(this.look.zoom);
            else this.setFocus(this.neighbour(at, event.key === outward ? "out" : event.key === inward ? "in" : event.key));
        } else if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            this.hooks.zoom(at);
        } else if (event.key === "ContextMenu" || (event.shiftKey && event.key === "F10")) {
            const box = this.place(at);
            const bounds = this.canvas.getBoundingClientRect();
            event.preventDefault();
            if (box) this.hooks.menu(at, bounds.left + box.left + 8, bounds.top + box.top + ROW);
        }
    }

    /** The box that an arrow key leads to; the same one if there is none. */
    private neighbour(node: number, way: string): number {
        const { tree } = this.look!;
        if (way === "out") return node === 0 ? 0 : tree.parent[node]!;
        if (way === "in") {
            let best = -1;
            for (const child of childrenOf(tree, node)) if (best < 0 || tree.weight[child]! > tree.weight[best]!) best = child;
            return best < 0 ? node : best;
        }
        return besides(tree, node, way === "ArrowLeft" ? -1 : 1);
    }

    /** Draws all rows of the zoomed part, up to a height, for a picture file. */
    picture(width: number, mostRows: number, background: string): HTMLCanvasElement {
        const { tree, icicle, firstLevel } = this.look!;
        const rows = Math.min(mostRows, tree.depth - firstLevel);
        const canvas = document.createElement("canvas");
        const ratio = 2;
        canvas.width = width * ratio;
        canvas.height = rows * ROW * ratio;
        const context = canvas.getContext("2d")!;
        context.scale(ratio, ratio);
        context.fillStyle = background;
        context.fillRect(0, 0, width, rows * ROW);
        context.font = FONT;
        for (let row = 0; row < rows; row++) {
            this.drawLevel(context, row + firstLevel, (icicle ? row : rows - 1 - row) * ROW, width);
        }
        this.drawAxis(context, width);
        return canvas;
    }
}
