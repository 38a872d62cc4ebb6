// Sums per method, and search results; no time is counted twice where a method or a match stands inside another.
import type { LooseTree, Tree } from "./tree.js";
import { looseTotals } from "./build.js";

export interface MethodSums {
    /** Keys that occur. */
    keys: Uint32Array;
    /** Per side, by key. */
    self: Float64Array[];
    total: Float64Array[];
}

export function sumMethods(tree: LooseTree, keyCount: number): MethodSums {
    const sides = tree.self.length;
    const totals = looseTotals(tree);
    const self = totals.map(() => new Float64Array(keyCount));
    const total = totals.map(() => new Float64Array(keyCount));
    const seen = new Uint8Array(keyCount);
    // Depth first over child lists; `open` counts how often a method stands on the current path.
    const firstChild = new Uint32Array(tree.count);
    const nextSibling = new Uint32Array(tree.count);
    for (let i = tree.count - 1; i > 0; i--) {
        nextSibling[i] = firstChild[tree.parent[i]!]!;
        firstChild[tree.parent[i]!] = i;
    }
    const open = new Uint32Array(keyCount);
    const enter = (node: number): void => {
        const key = tree.key[node]!;
        seen[key] = 1;
        for (let side = 0; side < sides; side++) {
            self[side]![key]! += tree.self[side]![node]!;
            if (open[key] === 0) total[side]![key]! += totals[side]![node]!;
        }
        open[key]!++;
    };
    let node = firstChild[0]!;
    while (node !== 0) {
        enter(node);
        if (firstChild[node] !== 0) {
            node = firstChild[node]!;
            continue;
        }
        open[tree.key[node]!]!--;
        while (nextSibling[node] === 0 && tree.parent[node] !== 0) {
            node = tree.parent[node]!;
            open[tree.key[node]!]!--;
        }
        node = nextSibling[node]!;
    }
    const keys: number[] = [];
    for (let key = 0; key < keyCount; key++) if (seen[key]) keys.push(key);
    return { keys: Uint32Array.from(keys), self, total };
}

export interface SearchResult {
    /** Matching nodes, in drawing order. */
    nodes: Uint32Array;
    /** Weight under matches, per side, nested matches once. */
    covered: number[];
}

/** Nodes of `tree` within the subtree of `within` whose key matches. */
export function searchTree(tree: Tree, matched: Uint8Array, within: number): SearchResult {
    const found: number[] = [];
    const covered = tree.total.map(() => 0);
    // Behind the subtree of the last match that counted.
    let counted = 0;
    for (let i = Math.max(1, within); i < tree.end[within]!; i++) {
        if (!matched[tree.key[i]!]) continue;
        found.push(i);
        if (i < counted) continue;
        for (let side = 0; side < covered.length; side++) covered[side]! += tree.total[side]![i]!;
        counted = tree.end[i]!;
    }
    return { nodes: Uint32Array.from(found), covered };
}
