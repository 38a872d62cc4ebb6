// The current view as folded text or as a picture of vectors.
import { inkOn } from "./colors.js";
import type { Tree } from "./tree.js";
import { firstBeyond, pathTo } from "./tree.js";

/** Lines "a;b;c value" of the boxes below `zoom` that have time of their own; two values for a comparison. */
export function foldedText(tree: Tree, zoom: number, sides: number, text: (node: number) => string): string {
    const clean = (node: number): string => text(node).replace(/[;\n\r]/g, "_");
    const lines: string[] = [];
    for (let i = Math.max(1, zoom); i < tree.end[zoom]!; i++) {
        const values = tree.self.slice(0, sides).map((column) => Number(column[i]!.toPrecision(12)));
        if (values.some((value) => value > 0)) lines.push(`${pathTo(tree, i).map(clean).join(";")} ${values.join(" ")}\n`);
    }
    return lines.join("");
}

function escapeXml(text: string): string {
    const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
    return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd").replace(lone, "\ufffd")
        .replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}

export interface SvgSpec {
    tree: Tree;
    zoom: number;
    icicle: boolean;
    title: string;
    dark: boolean;
    width: number;
    color(node: number): string;
    text(node: number): string;
    short(text: string): string;
    details(node: number): string;
}

const ROW = 18;
const HEAD = 30;
const CHAR = 7.22;

export function svgText(spec: SvgSpec): string {
    const { tree, zoom, width } = spec;
    const from = tree.x[zoom]!;
    const scale = tree.weight[zoom]! > 0 ? width / tree.weight[zoom]! : 0;
    const boxes: Box[] = [];
    for (let level = 0; level < tree.depth; level++) {
        for (let place = firstBeyond(tree, level, from); place < tree.levels[level + 1]!; place++) {
            const node = tree.byLevel[place]!;
            const left = Math.max(0, (tree.x[node]! - from) * scale);
            if (left >= width) break;
            const boxWidth = Math.min(width, (tree.x[node]! + tree.weight[node]! - from) * scale) - left;
            if (boxWidth >= 0.2) boxes.push({ node, level, left, width: boxWidth });
        }
    }
    const rows = boxes.length > 0 ? boxes[boxes.length - 1]!.level + 1 : 1;
    const height = rows * ROW + HEAD;
    const top = (level: number): number => (spec.icicle ? HEAD + level * ROW : height - (level + 1) * ROW);
    const body = boxes.map((box) => boxText(spec, box, top(box.level))).join("\n");
    const back = spec.dark ? "#16181c" : "#ffffff";
    const fore = spec.dark ? "#f4f4f4" : "#151515";
    return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
        `viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12" fill="${fore}">\n` +
        `<rect width="100%" height="100%" fill="${back}"/>\n<text x="${width / 2}" y="20" text-anchor="middle" font-size="15">` +
        `${escapeXml(spec.title)}</text>\n${body}\n</svg>\n`;
}

interface Box { node: number; level: number; left: number; width: number }

function boxText(spec: SvgSpec, box: Box, top: number): string {
    let label = spec.text(box.node);
    const room = Math.floor((box.width - 8) / CHAR);
    if (label.length > room) label = spec.short(label);
    if (label.length > room) label = room > 2 ? `${label.slice(0, room - 1)}…` : "";
    const color = spec.color(box.node);
    const text = label === "" ? "" : `<text fill="${inkOn(color)}" x="${(box.left + 4).toFixed(1)}" y="${top + 13}">${escapeXml(label)}</text>`;
    return `<g><title>${escapeXml(spec.details(box.node))}</title><rect x="${box.left.toFixed(2)}" y="${top}" ` +
        `width="${Math.max(0.2, box.width - 0.5).toFixed(2)}" height="${ROW - 1}" fill="${color}"/>${text}</g>`;
}
