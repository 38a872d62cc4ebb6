// What is known about one box, as lines of text: for the hint, the line at the bottom and readers of the screen.
import { KINDS } from "./profile.js";
import type { Engine } from "./engine.js";
import type { State } from "./state.js";
import type { Tree } from "./tree.js";
import { formatRange, formatShare, formatSigned, formatValue } from "./numbers.js";

export interface Details {
    name: string;
    /** The recorded name, if another one is shown. */
    raw: string;
    /** "compiled, RDD.scala:12" or "". */
    place: string;
    /** Pairs of heading and text. */
    facts: [string, string][];
}

export class Describer {
    constructor(private readonly engine: Engine) {}

    text(state: State, tree: Tree, node: number): string {
        return node === 0 ? (tree.isChart ? "all of the time" : "all") : this.engine.names(state).text(tree.key[node]!);
    }

    /** File and line of the box's frame; the line only if the box stands for one. */
    private place(state: State, tree: Tree, node: number): string {
        const frame = tree.frame[node]!;
        if (node === 0 || frame < 0) return "";
        const { frames, strings } = this.engine.profile;
        const parts: string[] = [];
        const kind = KINDS[frames.kind[frame]!] ?? "unknown";
        if (kind !== "unknown") parts.push(kind);
        const file = frames.file[frame]! > 0 ? strings.text(frames.file[frame]! - 1) : "";
        const line = frames.line[frame]!;
        if (file !== "") parts.push(line > 0 ? `${file}:${line}` : file);
        else if (line > 0 && !state.lines) parts.push(`line ${line}`);
        return parts.join(", ");
    }

    details(state: State, tree: Tree, node: number): Details {
        const names = this.engine.names(state);
        const name = this.text(state, tree, node);
        const raw = node > 0 ? names.raw(tree.key[node]!) : name;
        const isMethod = node > 0 && !names.isGroup(tree.key[node]!);
        return {
            name, raw: isMethod && raw !== name && !name.startsWith(`${raw}:`) ? raw : "", place: this.place(state, tree, node),
            facts: this.engine.sideCount === 1 ? this.facts(state, tree, node) : this.comparison(state, tree, node),
        };
    }

    private facts(state: State, tree: Tree, node: number): [string, string][] {
        const { unit } = this.engine.type(state);
        const total = tree.total[0]![node]!;
        const self = tree.self[0]![node]!;
        const whole = tree.total[0]![0]!;
        const facts: [string, string][] = tree.isChart ? [["Time", this.when(tree, node)]] : [];
        facts.push(["Total", `${formatValue(total, unit)} · ${formatShare(total, whole)} of all`]);
        if (!state.reverse || node === 0 || tree.isChart) facts.push(["Self", `${formatValue(self, unit)} · ${formatShare(self, whole)} of all`]);
        if (node > 0) {
            const parent = tree.parent[node]!;
            facts.push(["Of parent", `${formatShare(total, tree.total[0]![parent]!)} of ${this.text(state, tree, parent)}`]);
        }
        return facts;
    }

    /** Begin, end and length of a chart's box. */
    private when(tree: Tree, node: number): string {
        const time = this.engine.profile.meta.time!;
        const range = formatRange(tree.x[node]!, tree.x[node]! + tree.weight[node]!, time);
        return time.unit === undefined ? `${range} · ${formatValue(tree.weight[node]! * time.tick_ns, "nanoseconds")}` : `${time.unit} ${range}`;
    }

    private comparison(state: State, tree: Tree, node: number): [string, string][] {
        const { unit } = this.engine.type(state);
        const sides = this.engine.profile.meta.sides!;
        const factors = this.engine.factors(state);
        const line = (columns: Float64Array[]): string => {
            const [before, after] = [columns[0]![node]!, columns[1]![node]!];
            const wholes = tree.total.map((total) => total[0]!);
            const change = after * factors[1]! - before * factors[0]!;
            const share = state.normalize ? formatShare(change, wholes[1]! * factors[1]!) : formatValue(change, unit);
            const shown = (value: number, side: number): string => `${formatValue(value, unit)} (${formatShare(value, wholes[side]!)})`;
            return `${shown(before, 0)} → ${shown(after, 1)} · ${formatSigned(share, change)}`;
        };
        return [[`Total, ${sides[0]} → ${sides[1]}`, line(tree.total)], [`Self, ${sides[0]} → ${sides[1]}`, line(tree.self)]];
    }

    /** All of it in one line. */
    line(state: State, tree: Tree, node: number): string {
        const { name, place, facts } = this.details(state, tree, node);
        return [name, place, ...facts.map(([heading, text]) => `${heading}: ${text}`)].filter((part) => part !== "").join(" · ");
    }

    /** Between -1 (only before) and 1 (only after). */
    change(state: State, tree: Tree, node: number): number {
        const columns = state.changeOf === "self" ? tree.self : tree.total;
        const factors = this.engine.factors(state);
        const before = columns[0]![node]! * factors[0]!;
        const after = columns[1]![node]! * factors[1]!;
        return before + after > 0 ? (after - before) / (after + before) : 0;
    }

    /** 1 for a box that is only after, 2 for one that is only before, else 0. */
    oneSided(tree: Tree, node: number): number {
        const before = tree.total[0]![node]!;
        const after = tree.total[1]![node]!;
        return before === 0 && after > 0 ? 1 : after === 0 && before > 0 ? 2 : 0;
    }
}
