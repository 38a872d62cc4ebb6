// Builds the flame chart: stacks in the order of time, side by side, in one lane per thread (or other label).
import type { Profile } from "./profile.js";
import type { Selection } from "./selection.js";
import type { Names } from "./names.js";
import type { ForwardSpec } from "./build.js";
import { finishTree, totalsOf, type Tree } from "./tree.js";

/** Beyond this many boxes several ticks are drawn as one. */
const MOST_BOXES = 1_000_000;
/** A sample lasts until the next one of its lane, at most this many typical distances: after that the lane is idle. */
const LONGEST_SAMPLE = 2.5;
const NOT_DRAWN = 0xffffffff;

export interface ChartSpec extends Pick<ForwardSpec, "hidden" | "fold"> {
    /** Index of the label that makes lanes, or -1 for one lane. */
    laneBy: number;
    /** First and last tick that is drawn. */
    ticks: [number, number];
    /** Ticks are places in the order of samples: a sample lasts until the next one, however long that is. */
    gapless: boolean;
}

export interface Chart {
    /** x and weight are ticks; self and total are samples. */
    tree: Tree;
    /** Box of each chosen row; NOT_DRAWN for those that another one stands for. */
    rowNode: Uint32Array;
    /** Ticks that one stack stands for; more than 1 if there is too much to draw all. */
    coarseness: number;
}

interface Lane {
    key: number;
    /** Positions within the selection, by time. */
    rows: Uint32Array;
    weight: number;
}

/** Rows with a time, by lane; the heaviest lane first. */
function lanesOf(profile: Profile, names: Names, selection: Selection, label: number): Lane[] {
    const { rows } = profile;
    const column = label >= 0 ? profile.sets[label] : undefined;
    const members = new Map<number, number[]>();
    for (let i = 0; i < selection.rows.length; i++) {
        const row = selection.rows[i]!;
        if (rows.tick[row] === 0) continue;
        const value = column ? column[rows.set[row]!]! : 0;
        const list = members.get(value);
        if (list) list.push(i);
        else members.set(value, [i]);
    }
    const keyName = profile.meta.labels[label] ?? "";
    const text = (value: number): string => (value === 0 ? `(no ${keyName})` : `${keyName} ${profile.strings.text(value - 1)}`);
    const tickOf = (at: number): number => rows.tick[selection.rows[at]!]!;
    return [...members].map(([value, list]) => ({
        key: column ? names.group(text(value)) : -1,
        rows: Uint32Array.from(list).sort((a, b) => tickOf(a) - tickOf(b) || a - b),
        weight: list.reduce((sum, at) => sum + selection.values[at]!, 0),
    })).sort((a, b) => b.weight - a.weight);
}

/** Boxes as they are made: in preorder, and in each lane from left to right. */
class Boxes {
    count = 1;
    parent = new Uint32Array(1024);
    level = new Uint32Array(1024);
    key = new Uint32Array(1024);
    frame = new Int32Array(1024);
    begin = new Float64Array(1024);
    end = new Float64Array(1024);
    self = new Float64Array(1024);

    add(parent: number, level: number, key: number, frame: number, begin: number, end: number): number {
        if (this.count === this.parent.length) this.grow();
        const made = this.count++;
        this.parent[made] = parent;
        this.level[made] = level;
        this.key[made] = key;
        this.frame[made] = frame;
        this.begin[made] = begin;
        this.end[made] = end;
        return made;
    }

    private grow(): void {
        const grown = <T extends Uint32Array | Int32Array | Float64Array>(old: T, fresh: T): T => (fresh.set(old), fresh);
        const room = this.count * 2;
        this.parent = grown(this.parent, new Uint32Array(room));
        this.level = grown(this.level, new Uint32Array(room));
        this.key = grown(this.key, new Uint32Array(room));
        this.frame = grown(this.frame, new Int32Array(room));
        this.begin = grown(this.begin, new Float64Array(room));
        this.end = grown(this.end, new Float64Array(room));
        this.self = grown(this.self, new Float64Array(room));
    }

    finish([first, last]: [number, number]): Tree {
        const { count } = this;
        this.begin[0] = first;
        this.end[0] = last + 1;
        this.frame[0] = -1;
        const weight = new Float64Array(count);
        for (let i = 0; i < count; i++) weight[i] = this.end[i]! - this.begin[i]!;
        const parent = this.parent.subarray(0, count);
        const self = this.self.subarray(0, count);
        return finishTree({ count, parent, level: this.level.subarray(0, count), key: this.key.subarray(0, count), frame: this.frame.subarray(0, count),
                            self: [self], total: [totalsOf(count, parent, self)], weight, x: this.begin.subarray(0, count), isChart: true });
    }
}

/** The usual distance of samples of a lane that differ in time. */
function usualDistance(ticks: number[]): number {
    const distances = ticks.slice(1).map((tick, i) => tick - ticks[i]!).sort((a, b) => a - b);
    return distances[distances.length >> 1] ?? 1;
}

class ChartBuilder {
    readonly boxes = new Boxes();
    readonly rowNode: Uint32Array;
    /** The stack that was drawn last, from its outermost box. */
    private path: number[] = [];
    private fresh: { key: number; frame: number }[] = [];
    private base = 1;

    constructor(private readonly profile: Profile, private readonly names: Names, private readonly selection: Selection,
                private readonly spec: ChartSpec, private readonly coarseness: number) {
        this.rowNode = new Uint32Array(selection.rows.length).fill(NOT_DRAWN);
    }

    /** False if there are too many boxes. */
    addLane(lane: Lane): boolean {
        const { boxes, spec } = this;
        const [first, last] = spec.ticks;
        this.path = [];
        const top = lane.key < 0 ? 0 : boxes.add(0, this.base++, lane.key, -1, first, last + 1);
        const bins = this.binsOf(lane);
        const longest = spec.gapless ? Infinity : Math.max(1, usualDistance(bins.map((bin) => bin.tick)) * LONGEST_SAMPLE);
        let deepest = this.base;
        bins.forEach((bin, i) => {
            if (boxes.count > MOST_BOXES) return;
            const end = Math.min(bins[i + 1]?.tick ?? last + 1, bin.tick + longest, last + 1);
            deepest = Math.max(deepest, this.addBin(bin.rows, bin.tick, end, top));
        });
        this.base = deepest;
        return boxes.count <= MOST_BOXES;
    }

    private binsOf(lane: Lane): { tick: number; rows: Uint32Array }[] {
        const bins: { tick: number; rows: Uint32Array }[] = [];
        const binOf = (at: number): number => Math.floor((this.profile.rows.tick[this.selection.rows[lane.rows[at]!]!]! - 1) / this.coarseness);
        for (let i = 0; i < lane.rows.length;) {
            const bin = binOf(i);
            const from = i;
            while (i < lane.rows.length && binOf(i) === bin) i++;
            bins.push({ tick: Math.max(bin * this.coarseness, this.spec.ticks[0]), rows: lane.rows.subarray(from, i) });
        }
        return bins;
    }

    /** Stacks of one moment share its time; in a coarse chart the heaviest represents all. Returns the level after
     * the deepest. */
    private addBin(rows: Uint32Array, begin: number, end: number, top: number): number {
        const { values } = this.selection;
        if (this.coarseness > 1 && rows.length > 1) {
            const heaviest = rows.reduce((best, at) => (values[at]! > values[best]! ? at : best));
            for (const at of rows) if (at !== heaviest) this.boxes.self[top]! += values[at]!;
            rows = Uint32Array.of(heaviest);
        }
        let whole = 0;
        for (const at of rows) whole += values[at]!;
        let from = begin;
        let deepest = 0;
        for (const at of rows) {
            const to = from + (end - begin) * (whole > 0 ? values[at]! / whole : 1 / rows.length);
            deepest = Math.max(deepest, this.addStack(at, from, to, top));
            from = to;
        }
        return deepest;
    }

    private addStack(at: number, begin: number, end: number, top: number): number {
        const { boxes, path } = this;
        this.collect(this.profile.rows.node[this.selection.rows[at]!]!);
        const { fresh } = this;
        const touches = path.length > 0 && boxes.end[path[0]!]! >= begin - 1e-9;
        let shared = 0;
        while (touches && shared < path.length && shared < fresh.length && boxes.key[path[shared]!] === fresh[shared]!.key &&
               boxes.end[path[shared]!]! >= begin - 1e-9) {
            boxes.end[path[shared++]!] = end;
        }
        path.length = shared;
        for (let i = shared; i < fresh.length; i++) {
            path.push(boxes.add(i === 0 ? top : path[i - 1]!, this.base + i, fresh[i]!.key, fresh[i]!.frame, begin, end));
        }
        const leaf = path.length > 0 ? path[path.length - 1]! : top;
        boxes.self[leaf]! += this.selection.values[at]!;
        this.rowNode[at] = leaf;
        return this.base + fresh.length;
    }

    /** The frames of a stack that are shown, outermost first. */
    private collect(leaf: number): void {
        const { nodes } = this.profile;
        const { hidden, fold } = this.spec;
        const fresh: { key: number; frame: number }[] = [];
        for (let node = leaf; node > 0; node = nodes.parent[node]!) {
            const frame = nodes.frame[node]!;
            const key = this.names.ofFrame[frame]!;
            if (hidden?.[key] === 1) continue;
            if (fold && fresh.length > 0 && fresh[fresh.length - 1]!.key === key) fresh.pop();
            fresh.push({ key, frame });
        }
        this.fresh = fresh.reverse();
    }
}

export function buildChart(profile: Profile, names: Names, selection: Selection, spec: ChartSpec): Chart {
    const lanes = lanesOf(profile, names, selection, spec.laneBy);
    for (let coarseness = 1;; coarseness *= 2) {
        const builder = new ChartBuilder(profile, names, selection, spec, coarseness);
        const whole = lanes.every((lane) => builder.addLane(lane));
        if (whole || coarseness > spec.ticks[1] - spec.ticks[0]) return { tree: builder.boxes.finish(spec.ticks), rowNode: builder.rowNode, coarseness };
    }
}

/** Adds a column of sums per class to a chart, as colours by label need them. */
export function addClasses(chart: Chart, classOf: (position: number) => number, values: Float64Array, count: number): void {
    const { tree, rowNode } = chart;
    for (let i = 0; i < count; i++) tree.self.push(new Float64Array(tree.count));
    for (let at = 0; at < rowNode.length; at++) if (rowNode[at] !== NOT_DRAWN) tree.self[1 + classOf(at)]![rowNode[at]!]! += values[at]!;
    for (let i = 1; i <= count; i++) tree.total.push(totalsOf(tree.count, tree.parent, tree.self[i]!));
}
