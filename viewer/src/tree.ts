// A tree of boxes as it is drawn: breadth first, each level sorted by x. Typed arrays only, no recursion.

export type Order = "name" | "width";

/** Nodes in the order they were made: a parent before its children. Node 0 is the root. */
export interface LooseTree {
    count: number;
    parent: Uint32Array;
    key: Uint32Array;
    /** A frame that stands for the box, or -1. */
    frame: Int32Array;
    /** Per side. */
    self: Float64Array[];
    /** Where a reversed tree was cut because boxes got too small: 1. Empty if nowhere. */
    cut: Uint8Array;
}

/** The same nodes in preorder, siblings from left to right, with places. */
export interface Tree {
    count: number;
    /** Number of levels, the root's included. */
    depth: number;
    parent: Uint32Array;
    /** The first node behind the subtree of i: i's descendants are i + 1 … end[i] - 1. */
    end: Uint32Array;
    level: Uint32Array;
    key: Uint32Array;
    frame: Int32Array;
    self: Float64Array[];
    total: Float64Array[];
    /** Total that widths follow. */
    weight: Float64Array;
    x: Float64Array;
    /** Level d is nodes byLevel[levels[d]] … byLevel[levels[d + 1] - 1], from left to right. */
    levels: Uint32Array;
    byLevel: Uint32Array;
    cut: Uint8Array;
    /** x and weight are times; boxes of one name stand apart. */
    isChart?: boolean;
}

/** Weights of the sides in the width of a box. */
export type SideWeights = number[];

export function totalsOf(count: number, parent: Uint32Array, self: Float64Array): Float64Array {
    const total = Float64Array.from(self);
    for (let i = count - 1; i > 0; i--) total[parent[i]!]! += total[i]!;
    return total;
}

interface Children {
    starts: Uint32Array;
    list: Uint32Array;
}

/** Children of every node: of i, list[starts[i]] … list[starts[i + 1] - 1], in the order that `rank` gives. */
function sortedChildren(loose: LooseTree, rank: (node: number) => number): Children {
    const { count, parent } = loose;
    const starts = new Uint32Array(count + 2);
    for (let i = 1; i < count; i++) starts[parent[i]! + 2]!++;
    for (let i = 2; i < count + 2; i++) starts[i]! += starts[i - 1]!;
    // While filling, starts[i + 1] is where the next child of i goes; afterwards it is where those of i end.
    const list = new Uint32Array(Math.max(0, count - 1));
    for (let i = 1; i < count; i++) list[starts[parent[i]! + 1]!++] = i;
    for (let i = 0; i < count; i++) {
        const begin = starts[i]!;
        const end = starts[i + 1]!;
        if (end - begin > 1) sortSlice(list.subarray(begin, end), rank);
    }
    return { starts, list };
}

function sortSlice(slice: Uint32Array, rank: (node: number) => number): void {
    if (slice.length > 16) {
        slice.sort((a, b) => rank(a) - rank(b));
        return;
    }
    for (let i = 1; i < slice.length; i++) {
        const node = slice[i]!;
        const value = rank(node);
        let at = i;
        for (; at > 0 && rank(slice[at - 1]!) > value; at--) slice[at] = slice[at - 1]!;
        slice[at] = node;
    }
}

function emptyTree(loose: LooseTree): Tree {
    const { count } = loose;
    return {
        count, depth: 0,
        parent: new Uint32Array(count), end: new Uint32Array(count), level: new Uint32Array(count),
        key: new Uint32Array(count), frame: new Int32Array(count), self: loose.self.map(() => new Float64Array(count)), total: [],
        weight: new Float64Array(count), x: new Float64Array(count), levels: new Uint32Array(0), byLevel: new Uint32Array(count),
        cut: loose.cut.length > 0 ? new Uint8Array(count) : loose.cut,
    };
}

function looseWeights(loose: LooseTree, sideWeights: SideWeights): Float64Array {
    const weight = new Float64Array(loose.count);
    for (let side = 0; side < loose.self.length; side++) {
        const self = loose.self[side]!;
        const factor = sideWeights[side] ?? 1;
        if (factor !== 0) for (let i = 0; i < weight.length; i++) weight[i]! += self[i]! * factor;
    }
    return totalsOf(loose.count, loose.parent, weight);
}

/** Numbers and places the nodes. `keyRanks` gives each key's place in the order by name. */
export function arrange(loose: LooseTree, order: Order, keyRanks: Uint32Array, sideWeights: SideWeights): Tree {
    const weight = looseWeights(loose, sideWeights);
    const { key } = loose;
    const children = sortedChildren(loose, order === "name" ? (node) => keyRanks[key[node]!]! : (node) => -weight[node]!);
    const tree = emptyTree(loose);
    const looseOf = walk(tree, weight, children);
    for (let i = 0; i < tree.count; i++) {
        const old = looseOf[i]!;
        tree.key[i] = key[old]!;
        tree.frame[i] = loose.frame[old]!;
    }
    tree.self.forEach((column, side) => {
        const from = loose.self[side]!;
        for (let i = 0; i < column.length; i++) column[i] = from[looseOf[i]!]!;
    });
    if (tree.cut.length > 0) for (let i = 0; i < tree.count; i++) tree.cut[i] = loose.cut[looseOf[i]!]!;
    tree.total = tree.self.length === 1 && sideWeights[0] === 1 ? [tree.weight]
        : tree.self.map((self) => totalsOf(tree.count, tree.parent, self));
    findEnds(tree);
    listLevels(tree);
    return tree;
}

/** Goes through the nodes in preorder, gives them parent, level and place, and returns the loose node of each. */
function walk(tree: Tree, weight: Float64Array, { starts, list }: Children): Uint32Array {
    const { count, parent, level, x } = tree;
    const looseOf = new Uint32Array(count);
    const stack = new Uint32Array(count);
    const above = new Uint32Array(count);
    // Where the next child of a placed node begins.
    const nextX = new Float64Array(count);
    let height = 1;
    for (let i = 0; height > 0; i++) {
        const old = stack[--height]!;
        const caller = above[height]!;
        looseOf[i] = old;
        tree.weight[i] = weight[old]!;
        if (i > 0) {
            parent[i] = caller;
            level[i] = level[caller]! + 1;
            const left = nextX[caller]!;
            x[i] = left;
            nextX[i] = left;
            nextX[caller] = left + weight[old]!;
        }
        for (let at = starts[old + 1]! - 1; at >= starts[old]!; at--) {
            stack[height] = list[at]!;
            above[height++] = i;
        }
    }
    return looseOf;
}

/** The rest of a tree whose boxes have their places already, in preorder. */
export function finishTree(placed: Omit<Tree, "depth" | "end" | "levels" | "byLevel" | "cut">): Tree {
    const { count } = placed;
    const tree: Tree = { ...placed, depth: 0, end: new Uint32Array(count), levels: new Uint32Array(0), byLevel: new Uint32Array(count), cut: new Uint8Array(0) };
    findEnds(tree);
    listLevels(tree);
    return tree;
}

function findEnds(tree: Tree): void {
    const { end, parent, count } = tree;
    for (let i = count - 1; i >= 0; i--) {
        if (end[i] === 0) end[i] = i + 1;
        if (i > 0 && end[parent[i]!]! < end[i]!) end[parent[i]!] = end[i]!;
    }
}

function listLevels(tree: Tree): void {
    let depth = 0;
    for (let i = 0; i < tree.count; i++) if (tree.level[i]! > depth) depth = tree.level[i]!;
    tree.depth = depth + 1;
    const fill = new Uint32Array(tree.depth + 1);
    for (let i = 0; i < tree.count; i++) fill[tree.level[i]! + 1]!++;
    for (let level = 0; level < tree.depth; level++) fill[level + 1]! += fill[level]!;
    tree.levels = fill.slice();
    for (let i = 0; i < tree.count; i++) tree.byLevel[fill[tree.level[i]!]!++] = i;
}

/** Place in byLevel, at or behind `from`, of the first box whose right edge is beyond x; the level's end if none is. */
export function firstBeyond(tree: Tree, level: number, x: number, from = tree.levels[level]!): number {
    const end = tree.levels[level + 1]!;
    const { byLevel, weight, x: left } = tree;
    const beyond = (place: number): boolean => left[byLevel[place]!]! + weight[byLevel[place]!]! > x;
    // Strides that double first: the box is mostly near.
    let low = from;
    let stride = 1;
    while (low + stride < end && !beyond(low + stride - 1)) {
        low += stride;
        stride *= 2;
    }
    let high = Math.min(end, low + stride);
    while (low < high) {
        const middle = (low + high) >> 1;
        if (beyond(middle)) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** The box of a level that covers x, or -1. */
export function boxAt(tree: Tree, level: number, x: number): number {
    if (level < 0 || level >= tree.depth) return -1;
    const place = firstBeyond(tree, level, x);
    const node = tree.byLevel[place] ?? 0;
    return place < tree.levels[level + 1]! && tree.x[node]! <= x ? node : -1;
}

/** The box to the left (-1) or right (1) on the same level; the same one if there is none. */
export function besides(tree: Tree, node: number, way: number): number {
    const level = tree.level[node]!;
    let low = tree.levels[level]!;
    let high = tree.levels[level + 1]! - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (tree.byLevel[middle]! < node) low = middle + 1;
        else high = middle;
    }
    const place = low + way;
    return place >= tree.levels[level]! && place < tree.levels[level + 1]! ? tree.byLevel[place]! : node;
}

/** Children from left to right. */
export function* childrenOf(tree: Tree, node: number): Generator<number> {
    for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) yield child;
}

/** Nodes from below the root down to `node`. */
export function pathTo(tree: Tree, node: number): number[] {
    const path: number[] = [];
    for (let at = node; at > 0; at = tree.parent[at]!) path.push(at);
    return path.reverse();
}
