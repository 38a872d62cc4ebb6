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

/** The same nodes numbered level by level, with places. */
export interface Tree {
    count: number;
    depth: number;
    parent: Uint32Array;
    key: Uint32Array;
    frame: Int32Array;
    self: Float64Array[];
    total: Float64Array[];
    /** Self and total that widths follow. */
    weight: Float64Array;
    x: Float64Array;
    /** Level d is the nodes levels[d] … levels[d + 1] - 1. */
    levels: Uint32Array;
    /** Children of i are children[i] … children[i + 1] - 1. */
    children: Uint32Array;
    cut: Uint8Array;
    /** Node of each node of the loose tree. */
    ofLoose: Uint32Array;
}

/** Weights of the sides in the width of a box. */
export type SideWeights = number[];

function totalsOf(count: number, parent: Uint32Array, self: Float64Array): Float64Array {
    const total = Float64Array.from(self);
    for (let i = count - 1; i > 0; i--) total[parent[i]!]! += total[i]!;
    return total;
}

/** Stable sort of `items` by a 32-bit rank, 16 bits at a time. */
function sortByRank(items: Uint32Array, rank: Uint32Array): Uint32Array {
    let from: Uint32Array = items;
    let to: Uint32Array = new Uint32Array(items.length);
    let highest = 0;
    for (let i = 0; i < items.length; i++) if (rank[items[i]!]! > highest) highest = rank[items[i]!]!;
    for (const shift of highest > 0xffff ? [0, 16] : [0]) {
        const starts = new Uint32Array(0x10001);
        for (let i = 0; i < from.length; i++) starts[((rank[from[i]!]! >>> shift) & 0xffff) + 1]!++;
        for (let i = 0; i < 0x10000; i++) starts[i + 1]! += starts[i]!;
        for (let i = 0; i < from.length; i++) {
            const bucket = (rank[from[i]!]! >>> shift) & 0xffff;
            to[starts[bucket]!++] = from[i]!;
        }
        [from, to] = [to, from === items ? new Uint32Array(items.length) : from];
    }
    return from;
}

/** Nodes other than the root in the order that siblings shall have. */
function siblingOrder(loose: LooseTree, total: Float64Array, order: Order, keyRanks: Uint32Array): Uint32Array {
    const rank = new Uint32Array(loose.count);
    if (order === "name") {
        for (let i = 1; i < loose.count; i++) rank[i] = keyRanks[loose.key[i]!]!;
    } else {
        const factor = total[0]! > 0 ? 0xffffffff / total[0]! : 0;
        for (let i = 1; i < loose.count; i++) rank[i] = 0xffffffff - Math.min(0xffffffff, Math.max(0, total[i]! * factor));
    }
    const items = new Uint32Array(Math.max(0, loose.count - 1));
    for (let i = 0; i < items.length; i++) items[i] = i + 1;
    return sortByRank(items, rank);
}

/** Numbers and places the nodes. `keyRanks` gives each key's place in the order by name. */
export function arrange(loose: LooseTree, order: Order, keyRanks: Uint32Array, sideWeights: SideWeights): Tree {
    const { count } = loose;
    const looseWeight = new Float64Array(count);
    for (let side = 0; side < loose.self.length; side++) {
        const self = loose.self[side]!;
        const factor = sideWeights[side] ?? 1;
        if (factor !== 0) for (let i = 0; i < count; i++) looseWeight[i]! += self[i]! * factor;
    }
    const looseTotal = totalsOf(count, loose.parent, looseWeight);

    // Children of each loose node, sorted: a stable pass by parent over the sorted siblings.
    const starts = new Uint32Array(count + 1);
    for (let i = 1; i < count; i++) starts[loose.parent[i]! + 1]!++;
    for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
    const fill = starts.slice();
    const sorted = siblingOrder(loose, looseTotal, order, keyRanks);
    const kids = new Uint32Array(sorted.length);
    for (let i = 0; i < sorted.length; i++) kids[fill[loose.parent[sorted[i]!]!]!++] = sorted[i]!;

    const tree: Tree = {
        count, depth: 0,
        parent: new Uint32Array(count), key: new Uint32Array(count), frame: new Int32Array(count),
        self: loose.self.map(() => new Float64Array(count)), total: [],
        weight: new Float64Array(count), x: new Float64Array(count),
        levels: new Uint32Array(0), children: new Uint32Array(count + 1),
        cut: loose.cut.length > 0 ? new Uint8Array(count) : loose.cut,
        ofLoose: new Uint32Array(count),
    };
    const looseOf = new Uint32Array(count);
    const levels: number[] = [0];
    let made = 1;
    let levelEnd = 1;
    for (let i = 0; i < count; i++) {
        if (i === levelEnd) {
            levels.push(i);
            levelEnd = made;
        }
        const old = looseOf[i]!;
        tree.ofLoose[old] = i;
        tree.key[i] = loose.key[old]!;
        tree.frame[i] = loose.frame[old]!;
        tree.weight[i] = looseTotal[old]!;
        if (loose.cut.length > 0) tree.cut[i] = loose.cut[old]!;
        for (let side = 0; side < loose.self.length; side++) tree.self[side]![i] = loose.self[side]![old]!;
        tree.children[i] = made;
        let x = tree.x[i]!;
        for (let at = starts[old]!; at < starts[old + 1]!; at++) {
            const child = kids[at]!;
            looseOf[made] = child;
            tree.parent[made] = i;
            tree.x[made] = x;
            x += looseTotal[child]!;
            made++;
        }
    }
    tree.children[count] = made;
    levels.push(count);
    tree.levels = Uint32Array.from(levels);
    tree.depth = tree.levels.length - 1;
    tree.total = tree.self.map((self) => totalsOf(count, tree.parent, self));
    return tree;
}

/** Level of a node. */
export function levelOf(tree: Tree, node: number): number {
    let low = 0;
    let high = tree.depth - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (tree.levels[middle]! <= node) low = middle;
        else high = middle - 1;
    }
    return low;
}

/** First node of nodes[begin … end) whose right edge is beyond x; `end` if none is. */
export function firstBeyond(tree: Tree, begin: number, end: number, x: number): number {
    let low = begin;
    let high = end;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (tree.x[middle]! + tree.weight[middle]! > x) high = middle;
        else low = middle + 1;
    }
    return low;
}

/** The box of a level that covers x, or -1. */
export function boxAt(tree: Tree, level: number, x: number): number {
    if (level < 0 || level >= tree.depth) return -1;
    const end = tree.levels[level + 1]!;
    const node = firstBeyond(tree, tree.levels[level]!, end, x);
    return node < end && tree.x[node]! <= x ? node : -1;
}

/** Nodes from below the root down to `node`. */
export function pathTo(tree: Tree, node: number): number[] {
    const path: number[] = [];
    for (let at = node; at > 0; at = tree.parent[at]!) path.push(at);
    return path.reverse();
}
