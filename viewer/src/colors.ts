// Colours of boxes and what they mean. Themes differ in lightness only, so a hue keeps its meaning.
import { KINDS, type Profile } from "./profile.js";
import type { Names } from "./names.js";
import type { Tree } from "./tree.js";

export interface LegendEntry {
    color: string;
    text: string;
    /** Label value that a click selects. */
    choice?: string;
}

/** Hue, saturation, lightness shift; -1 as hue is grey. */
interface Tone { hue: number; saturation: number; shift: number }

/** "#rrggbb", which every reader of an exported picture knows. */
function hex(hue: number, saturation: number, lightness: number): string {
    const s = Math.min(100, saturation) / 100;
    const l = Math.max(0, Math.min(100, lightness)) / 100;
    const channel = (offset: number): string => {
        const k = (offset + hue / 30) % 12;
        const value = l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
        return Math.round(value * 255).toString(16).padStart(2, "0");
    };
    return `#${channel(0)}${channel(8)}${channel(4)}`;
}

export function toneColor(tone: Tone, dark: boolean): string {
    const saturation = tone.hue < 0 ? 0 : tone.saturation;
    const lightness = (dark ? 38 : 74) + tone.shift;
    return hex(Math.max(0, tone.hue), dark ? saturation * 0.7 : saturation, lightness);
}

function luminance(color: string): number {
    const linear = (at: number): number => {
        const part = parseInt(color.slice(at, at + 2), 16) / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5);
}

const INKS = new Map<string, string>();

/** Letters that can be read on a colour, "#rrggbb": of dark and light ones those with the higher contrast. */
export function inkOn(color: string): string {
    let ink = INKS.get(color);
    if (ink === undefined) {
        // At this luminance black and white are equally far; either has then 4.58 times the contrast.
        INKS.set(color, ink = luminance(color) > 0.179 ? "#000000" : "#ffffff");
    }
    return ink;
}

function hashOf(text: string): number {
    let hash = 0x811c9dc5;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return (hash ^ (hash >>> 13)) >>> 0;
}

/** Three levels tell most packages apart; Spark's own need one more. */
function packageText(parts: string[]): string {
    const spark = parts[0] === "org" && parts[1] === "apache" && parts[2] === "spark";
    return parts.slice(0, spark ? 4 : 3).join(".");
}

/** "org.apache.spark.rdd" of "org/apache/spark/rdd/RDD.map", a module or file for other names, "" if there is none. */
export function packageOf(name: string, file: string): string {
    const bare = name.replace(/\(.*$/s, "").replace(/:\d+$/, "");
    if (/^[\w$]+(\/[\w$.+<>-]+)+$/.test(bare)) {
        return packageText(bare.slice(0, bare.lastIndexOf("/")).split("/"));
    }
    if (/^[\w$]+(\.[\w$<>]+){2,}$/.test(bare)) return packageText(bare.split(".").slice(0, -2));
    if (bare.includes("::")) return bare.slice(0, bare.indexOf("::"));
    if (file !== "") {
        const parts = file.split("/").filter((part) => part !== "");
        return parts.length > 1 ? parts[parts.length - 2]! : parts[0] ?? "";
    }
    return "";
}

const KIND_TONES: Record<string, Tone> = {
    "unknown": { hue: 35, saturation: 45, shift: 0 }, "interpreted": { hue: 175, saturation: 45, shift: 0 },
    "C1-compiled": { hue: 150, saturation: 45, shift: 2 }, "compiled": { hue: 120, saturation: 45, shift: 0 },
    "inlined": { hue: 195, saturation: 60, shift: 0 }, "native": { hue: 0, saturation: 70, shift: 0 },
    "C++": { hue: 52, saturation: 75, shift: -4 }, "kernel": { hue: 28, saturation: 85, shift: -2 },
    "Python": { hue: 215, saturation: 65, shift: 0 }, "C extension": { hue: 265, saturation: 50, shift: 0 },
    "class": { hue: 300, saturation: 35, shift: 0 }, "group": { hue: -1, saturation: 0, shift: 4 },
};

/** Seven hues that stay apart for colour-blind eyes (after Okabe and Ito), and grey for the rest. */
const CLASS_TONES: Tone[] = [
    { hue: 202, saturation: 75, shift: 0 }, { hue: 32, saturation: 85, shift: -4 }, { hue: 164, saturation: 55, shift: -8 },
    { hue: 326, saturation: 50, shift: 0 }, { hue: 54, saturation: 80, shift: -2 }, { hue: 262, saturation: 45, shift: 2 },
    { hue: 12, saturation: 75, shift: -4 }, { hue: -1, saturation: 0, shift: 0 },
];
export const CLASS_COUNT = CLASS_TONES.length;

export function classColor(index: number, dark: boolean): string {
    return toneColor(CLASS_TONES[index] ?? CLASS_TONES[CLASS_COUNT - 1]!, dark);
}

const GROUP_TONE: Tone = { hue: -1, saturation: 0, shift: 6 };
const ROOT_TONE: Tone = { hue: -1, saturation: 0, shift: 10 };

function packageTone(text: string): Tone {
    if (text === "") return { hue: 35, saturation: 25, shift: 4 };
    const hash = hashOf(text);
    return { hue: hash % 360, saturation: 48 + ((hash >>> 9) % 25), shift: ((hash >>> 16) % 9) - 4 };
}

/** Neighbours of one package differ a little, so that one sees where a box ends. */
function shaded(tone: Tone, name: string): Tone {
    return { ...tone, shift: tone.shift + (hashOf(name) % 9) - 4 };
}

function nameTone(text: string): Tone {
    const hash = hashOf(text);
    return { hue: 8 + (hash % 48), saturation: 75, shift: ((hash >>> 8) % 17) - 10 };
}

export interface Palette {
    /** Fill of a box. */
    color(node: number): string;
    /** Takes a look at every box: not for each frame. */
    legend(): LegendEntry[];
}

/** By key: "package" or "name"; by frame: "kind". */
export function plainPalette(mode: string, profile: Profile, names: Names, tree: Tree, dark: boolean): Palette {
    const cache = new Map<number, string>();
    const root = toneColor(ROOT_TONE, dark);
    const group = toneColor(GROUP_TONE, dark);
    const fileOf = (frame: number): string => {
        const file = profile.frames.file[frame]!;
        return file > 0 ? profile.strings.text(file - 1) : "";
    };
    const kindOf = (node: number): string => KINDS[profile.frames.kind[tree.frame[node]!]!] ?? "unknown";
    const color = (node: number): string => {
        if (node === 0) return root;
        const key = tree.key[node]!;
        if (names.isGroup(key)) return group;
        const id = mode === "kind" ? profile.frames.kind[tree.frame[node]!]! : key;
        let found = cache.get(id);
        if (found === undefined) {
            const tone = mode === "kind" ? KIND_TONES[kindOf(node)]!
                : mode === "name" ? nameTone(names.text(key))
                : shaded(packageTone(packageOf(names.raw(key), fileOf(names.frame[key]!))), names.text(key));
            cache.set(id, found = toneColor(tone, dark));
        }
        return found;
    };
    const classOf = (node: number): string => {
        if (mode === "kind") return kindOf(node);
        const key = tree.key[node]!;
        return packageOf(names.raw(key), fileOf(names.frame[key]!));
    };
    const legend = (): LegendEntry[] => mode === "name" ? [] : legendOf(tree, names, classOf).map(([text]) => ({
        text: text === "" ? "no package" : text,
        color: toneColor(mode === "kind" ? KIND_TONES[text] ?? KIND_TONES["unknown"]! : packageTone(text), dark),
    }));
    return { color, legend };
}

/** Classes by the self time of their boxes, the largest first. */
function legendOf(tree: Tree, names: Names, classOf: (node: number) => string): [string, number][] {
    const byKey = new Float64Array(names.count);
    const example = new Uint32Array(names.count);
    const sums = new Map<string, number>();
    for (let i = 1; i < tree.count; i++) {
        const key = tree.key[i]!;
        if (names.isGroup(key)) continue;
        byKey[key]! += tree.weight[i]!;
        // What children weigh is not the parent's own.
        const above = tree.parent[i]!;
        if (above > 0) byKey[tree.key[above]!]! -= tree.weight[i]!;
        if (example[key] === 0) example[key] = i;
    }
    for (let key = 0; key < names.count; key++) {
        if (example[key] === 0) continue;
        const text = classOf(example[key]!);
        sums.set(text, (sums.get(text) ?? 0) + byKey[key]!);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).slice(0, 12);
}

/** By the label value that most of a box's weight has; `columns` are the tree's totals per class. */
export function labelPalette(columns: Float64Array[], classes: string[], dark: boolean): Palette {
    const colors = classes.map((_, index) => classColor(index, dark));
    const root = toneColor(ROOT_TONE, dark);
    const color = (node: number): string => {
        if (node === 0) return root;
        let best = 0;
        for (let i = 1; i < columns.length; i++) if (columns[i]![node]! > columns[best]![node]!) best = i;
        return colors[best] ?? root;
    };
    return { color, legend: () => classes.map((text, index) => ({ text, color: colors[index]!, choice: text })) };
}

/** Blue for less, orange for more; the share of change decides the strength. `change` is between -1 and 1. */
export function changeColor(change: number, dark: boolean): string {
    const strength = Math.min(1, Math.sqrt(Math.abs(change)) * 1.15);
    if (strength < 0.06) return hex(0, 0, dark ? 32 : 90);
    const hue = change > 0 ? 24 : 208;
    return dark ? hex(hue, 20 + 60 * strength, 32 + 8 * strength) : hex(hue, 30 + 65 * strength, 90 - 30 * strength);
}

export function changeLegend(sides: string[], dark: boolean): LegendEntry[] {
    return [
        { text: `only ${sides[0]} (removed)`, color: changeColor(-1, dark) }, { text: "less", color: changeColor(-0.25, dark) },
        { text: "the same", color: changeColor(0, dark) }, { text: "more", color: changeColor(0.25, dark) },
        { text: `only ${sides[1]} (new)`, color: changeColor(1, dark) },
    ];
}
