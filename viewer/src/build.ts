// Builds trees: forward (callers first), of the callees of one method, and reversed (leaves first).
import type { Profile } from "./profile.js";
import type { Selection } from "./selection.js";
import type { Names } from "./names.js";
import type { LooseTree } from "./tree.js";

/**
 * A tree that grows. Most nodes have one child, which is noted at its parent; only further ones are found by (parent,
 * key) in an open hash table, so that it stays small.
 */
class TreeBuilder {
    count = 1;
    parent: Uint32Array;
    key: Uint32Array;
    frame: Int32Array;
    private firstChild: Uint32Array;
    private table = new Int32Array(1024);
    private mask = 1023;
    private inTable = 0;

    constructor(expected: number) {
        const room = Math.max(16, expected);
        this.parent = new Uint32Array(room);
        this.key = new Uint32Array(room);
        this.frame = new Int32Array(room);
        this.frame[0] = -1;
        this.firstChild = new Uint32Array(room);
    }

    private slot(parent: number, key: number): number {
        let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key + 1, 0x85ebca6b);
        hash ^= hash >>> 15;
        hash = Math.imul(hash, 0x2c1b3c6d);
        hash ^= hash >>> 13;
        return hash & this.mask;
    }

    child(parent: number, key: number, frame: number): number {
        const first = this.firstChild[parent]!;
        if (first === 0) return (this.firstChild[parent] = this.append(parent, key, frame));
        if (this.key[first] === key) return first;
        let slot = this.slot(parent, key);
        for (let node = this.table[slot]!; node !== 0; node = this.table[slot]!) {
            if (this.parent[node] === parent && this.key[node] === key) return node;
            slot = (slot + 1) & this.mask;
        }
        const made = this.append(parent, key, frame);
        this.table[slot] = made;
        if (++this.inTable * 2 > this.table.length) this.growTable();
        return made;
    }

    private append(parent: number, key: number, frame: number): number {
        if (this.count === this.parent.length) this.grow();
        const made = this.count++;
        this.parent[made] = parent;
        this.key[made] = key;
        this.frame[made] = frame;
        return made;
    }

    private grow(): void {
        const room = this.parent.length * 2;
        const grown = <T extends Uint32Array | Int32Array>(old: T, fresh: T): T => (fresh.set(old), fresh);
        this.parent = grown(this.parent, new Uint32Array(room));
        this.key = grown(this.key, new Uint32Array(room));
        this.frame = grown(this.frame, new Int32Array(room));
        this.firstChild = grown(this.firstChild, new Uint32Array(room));
    }

    private growTable(): void {
        const old = this.table;
        this.table = new Int32Array(old.length * 4);
        this.mask = this.table.length - 1;
        for (const node of old) {
            if (node === 0) continue;
            let slot = this.slot(this.parent[node]!, this.key[node]!);
            while (this.table[slot] !== 0) slot = (slot + 1) & this.mask;
            this.table[slot] = node;
        }
    }

    finish(self: Float64Array[], cut: Uint8Array = new Uint8Array(0)): LooseTree {
        return {
            count: this.count,
            parent: this.parent.subarray(0, this.count),
            key: this.key.subarray(0, this.count),
            frame: this.frame.subarray(0, this.count),
            self: self.map((column) => column.subarray(0, this.count)),
            cut,
        };
    }
}

export interface ForwardSpec {
    /** Hidden methods (1): their boxes vanish, their time goes to the caller. Null if none. */
    hidden: Uint8Array | null;
    /** One box for a method that calls itself directly. */
    fold: boolean;
    /** Index of the label that makes the first level, or -1. */
    groupBy: number;
}

export interface ForwardTree {
    tree: LooseTree;
    /** Node of each chosen row. */
    rowNode: Uint32Array;
}

/** The tree of the chosen rows. */
export function buildForward(profile: Profile, names: Names, selection: Selection, spec: ForwardSpec): ForwardTree {
    const { nodes, rows } = profile;
    const everything = selection.rows.length === rows.count && names.isPlain;
    if (everything && !spec.hidden && !spec.fold && spec.groupBy < 0) return wholeTree(profile, names, selection);
    const builder = new TreeBuilder(selection.rows.length === rows.count ? nodes.count : 1 << 14);
    const target = new Uint32Array(nodes.count);
    // Which run made target[node]; runs are counted from 1.
    const madeIn = new Uint32Array(nodes.count);
    const chain = new Uint32Array(nodes.count);
    const rowNode = new Uint32Array(selection.rows.length);
    const ofFrame = names.ofFrame;
    for (const [run, group] of groupRows(profile, names, selection, spec.groupBy).entries()) {
        const stamp = run + 1;
        madeIn[0] = stamp;
        target[0] = group.key < 0 ? 0 : builder.child(0, group.key, -1);
        for (let i = 0; i < group.rows.length; i++) {
            const at = group.rows[i]!;
            const leaf = rows.node[selection.rows[at]!]!;
            let node = leaf;
            let height = 0;
            while (madeIn[node] !== stamp) {
                chain[height++] = node;
                node = nodes.parent[node]!;
            }
            let made = target[node]!;
            while (height > 0) {
                node = chain[--height]!;
                const frame = nodes.frame[node]!;
                const key = ofFrame[frame]!;
                const skipped = (spec.hidden !== null && spec.hidden[key] === 1) ||
                    (spec.fold && made > 0 && builder.key[made] === key);
                if (!skipped) made = builder.child(made, key, frame);
                target[node] = made;
                madeIn[node] = stamp;
            }
            rowNode[at] = target[leaf]!;
        }
    }
    return { tree: builder.finish(sumRows(selection, rowNode, builder.count)), rowNode };
}

/** The profile's own tree, where nothing is to be merged or left out. */
function wholeTree(profile: Profile, names: Names, selection: Selection): ForwardTree {
    const { count, parent, frame } = profile.nodes;
    const key = new Uint32Array(count);
    for (let i = 1; i < count; i++) key[i] = names.ofFrame[frame[i]!]!;
    const frames = Int32Array.from(frame);
    frames[0] = -1;
    const rowNode = profile.rows.node;
    return { tree: { count, parent, key, frame: frames, self: sumRows(selection, rowNode, count), cut: new Uint8Array(0) }, rowNode };
}

/** Per side: what the rows of each node weigh. */
function sumRows(selection: Selection, rowNode: Uint32Array, count: number): Float64Array[] {
    const self = selection.totals.map(() => new Float64Array(count));
    const { values, sides } = selection;
    if (sides.length === 0) for (let i = 0; i < rowNode.length; i++) self[0]![rowNode[i]!]! += values[i]!;
    else for (let i = 0; i < rowNode.length; i++) self[sides[i]!]![rowNode[i]!]! += values[i]!;
    return self;
}

interface RowGroup {
    key: number;
    /** Positions within the selection. */
    rows: Uint32Array;
}

function groupRows(profile: Profile, names: Names, selection: Selection, label: number): RowGroup[] {
    if (label < 0 || profile.sets.length === 0) {
        const all = new Uint32Array(selection.rows.length);
        for (let i = 0; i < all.length; i++) all[i] = i;
        return [{ key: -1, rows: all }];
    }
    const column = profile.sets[label]!;
    const members = new Map<number, number[]>();
    for (let i = 0; i < selection.rows.length; i++) {
        const value = column[profile.rows.set[selection.rows[i]!]!]!;
        const list = members.get(value);
        if (list) list.push(i);
        else members.set(value, [i]);
    }
    const keyName = profile.meta.labels[label]!;
    return [...members].map(([value, list]) => ({
        key: names.group(value === 0 ? `(no ${keyName})` : `${keyName} ${profile.strings.text(value - 1)}`),
        rows: Uint32Array.from(list),
    }));
}

/** Totals per node of a loose tree. */
export function looseTotals(tree: LooseTree): Float64Array[] {
    return tree.self.map((self) => {
        const total = Float64Array.from(self);
        for (let i = tree.count - 1; i > 0; i--) total[tree.parent[i]!]! += total[i]!;
        return total;
    });
}

/** Nodes of a method that no node of the same method stands above. */
export function outermost(tree: LooseTree, key: number): Uint32Array {
    const inside = new Uint8Array(tree.count);
    const found: number[] = [];
    for (let i = 1; i < tree.count; i++) {
        const above = tree.parent[i]!;
        inside[i] = inside[above]!;
        if (tree.key[i] === key) {
            if (!inside[i]) found.push(i);
            inside[i] = 1;
        }
    }
    return Uint32Array.from(found);
}

/** Everything that a method calls, merged; the method is the one box of the first level. */
export function buildCallees(tree: LooseTree, key: number): LooseTree {
    const builder = new TreeBuilder(1024);
    const target = new Int32Array(tree.count).fill(-1);
    for (const node of outermost(tree, key)) target[node] = builder.child(0, key, tree.frame[node]!);
    for (let i = 1; i < tree.count; i++) {
        const above = target[tree.parent[i]!]!;
        if (target[i]! < 0 && above >= 0) target[i] = builder.child(above, tree.key[i]!, tree.frame[i]!);
    }
    const self = tree.self.map((column) => {
        const sum = new Float64Array(builder.count);
        for (let i = 1; i < tree.count; i++) if (target[i]! >= 0) sum[target[i]!]! += column[i]!;
        return sum;
    });
    return builder.finish(self);
}

export interface ReverseSpec {
    /** Boxes below this share of the whole are not opened further. */
    minimumShare: number;
    /** Keys from the root down to the zoomed box; below it the share counts from there. */
    focus: number[];
    /** First-level boxes of the forward tree are groups and stay first. */
    grouped: boolean;
}

/** The tree read from the leaves. */
export function buildReversed(tree: LooseTree, sideWeights: number[], spec: ReverseSpec): LooseTree {
    const seeds: number[] = [];
    for (let i = 1; i < tree.count; i++) if (tree.self.some((column) => column[i]! > 0)) seeds.push(i);
    const values = tree.self.map((column) => Float64Array.from(seeds, (node) => column[node]!));
    return reverseFrom(tree, Uint32Array.from(seeds), values, sideWeights, spec);
}

/** Everything that calls a method, merged; the method is the one box of the first level. */
export function buildCallers(tree: LooseTree, key: number, sideWeights: number[], spec: ReverseSpec): LooseTree {
    const seeds = outermost(tree, key);
    const totals = looseTotals(tree);
    const values = totals.map((column) => Float64Array.from(seeds, (node) => column[node]!));
    return reverseFrom(tree, seeds, values, sideWeights, spec);
}

/**
 * Walks up from all seeds at once, level by level. A cursor is one seed on its way to the root; cursors of one box lie
 * together. A box too small to be seen is not opened (its `cut` is 1), which keeps the work near what can be drawn.
 */
function reverseFrom(tree: LooseTree, seeds: Uint32Array, values: Float64Array[], sideWeights: number[],
                     spec: ReverseSpec): LooseTree {
    const sides = values.length;
    const weightOf = (cursor: number): number => {
        let weight = 0;
        for (let side = 0; side < sides; side++) weight += values[side]![cursor]! * (sideWeights[side] ?? 1);
        return weight;
    };
    const firstLevel = groupFirstLevel(tree, spec.grouped);
    const builder = new TreeBuilder(1024);
    const total: number[][] = values.map(() => [0]);
    const cut: number[] = [0];
    // Cursors of the level being opened, with the box each belongs to.
    let cursors = Uint32Array.from(seeds.keys());
    let boxes = new Uint32Array(seeds.length);
    const place = Uint32Array.from(seeds);
    let whole = 0;
    for (const cursor of cursors) {
        whole += weightOf(cursor);
        if (firstLevel) boxes[cursor] = openBox(0, tree.key[firstLevel[place[cursor]!]!]!, -1, cursor);
        else for (let side = 0; side < sides; side++) total[side]![0]! += values[side]![cursor]!;
    }
    function openBox(parent: number, key: number, frame: number, cursor: number): number {
        const box = builder.child(parent, key, frame);
        for (let side = 0; side < sides; side++) {
            const column = total[side]!;
            if (column.length <= box) column.push(0);
            column[box]! += values[side]![cursor]!;
        }
        if (cut.length <= box) cut.push(0);
        return box;
    }
    const boxWeight = (box: number): number => {
        let weight = 0;
        for (let side = 0; side < sides; side++) weight += total[side]![box]! * (sideWeights[side] ?? 1);
        return weight;
    };
    let focusBox = spec.focus.length > 0 ? 0 : -1;
    let focusStep = 0;
    let limit = whole * spec.minimumShare;
    const belowFocus = new Set<number>();
    if (firstLevel && focusBox === 0) advanceFocus(1);
    function advanceFocus(first: number): void {
        let next = -1;
        for (let box = first; box < builder.count; box++) {
            if (builder.parent[box] === focusBox && builder.key[box] === spec.focus[focusStep]) next = box;
        }
        focusStep++;
        if (next >= 0 && focusStep === spec.focus.length) {
            belowFocus.add(next);
            limit = Math.min(limit, boxWeight(next) * spec.minimumShare);
            focusBox = -1;
        } else {
            focusBox = next;
        }
    }
    while (cursors.length > 0) {
        const before = builder.count;
        let kept = 0;
        const nextBoxes = new Uint32Array(cursors.length);
        for (let i = 0; i < cursors.length; i++) {
            const cursor = cursors[i]!;
            const node = place[cursor]!;
            if (node === 0 || (firstLevel && tree.parent[node] === 0)) continue;
            const box = openBox(boxes[i]!, tree.key[node]!, tree.frame[node]!, cursor);
            place[cursor] = tree.parent[node]!;
            cursors[kept] = cursor;
            nextBoxes[kept++] = box;
        }
        if (focusBox >= 0) advanceFocus(before);
        const keepOpen = new Uint8Array(builder.count - before);
        for (let box = before; box < builder.count; box++) {
            const inFocus = box === focusBox || belowFocus.has(box) || belowFocus.has(builder.parent[box]!);
            if (inFocus && box !== focusBox) belowFocus.add(box);
            const open = box === focusBox || boxWeight(box) >= (inFocus ? limit : whole * spec.minimumShare);
            keepOpen[box - before] = open ? 1 : 0;
        }
        let left = 0;
        for (let i = 0; i < kept; i++) {
            const box = nextBoxes[i]!;
            if (keepOpen[box - before]) {
                cursors[left] = cursors[i]!;
                nextBoxes[left++] = box;
            } else if (place[cursors[i]!] !== 0) {
                cut[box] = 1;
            }
        }
        cursors = cursors.subarray(0, left);
        boxes = nextBoxes.subarray(0, left);
    }
    return builder.finish(selfOfReversed(builder, total), Uint8Array.from(cut));
}

/** A box's self is what its callers do not carry on; so that totals come out as counted. */
function selfOfReversed(builder: TreeBuilder, total: number[][]): Float64Array[] {
    return total.map((column) => {
        const self = Float64Array.from({ length: builder.count }, (_, i) => column[i] ?? 0);
        for (let i = builder.count - 1; i > 0; i--) {
            const above = builder.parent[i]!;
            if (above > 0 || column[0] !== 0) self[above]! -= column[i]!;
        }
        for (let i = 0; i < self.length; i++) if (self[i]! < 1e-9) self[i] = 0;
        return self;
    });
}

function groupFirstLevel(tree: LooseTree, grouped: boolean): Uint32Array | null {
    if (!grouped) return null;
    const first = new Uint32Array(tree.count);
    for (let i = 1; i < tree.count; i++) first[i] = tree.parent[i] === 0 ? i : first[tree.parent[i]!]!;
    return first;
}
