// Names for boxes that survive rebuilding and reloading: a hash of the recorded names from the root to the box.
import type { Names } from "./names.js";
import type { Profile } from "./profile.js";
import type { RemovedStack } from "./state.js";
import type { ForwardSpec } from "./build.js";
import { pathTo, type Tree } from "./tree.js";

const SEEDS = [0x811c9dc5, 0x1b873593] as const;

function hashText(text: string, seed: number): number {
    let hash = seed;
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> 0;
}

function step(above: number, text: number): number {
    const hash = Math.imul((above << 7) | (above >>> 25), 0x9e3779b1) ^ text;
    return (Math.imul(hash, 0x85ebca6b) ^ (hash >>> 16)) >>> 0;
}

function hex(lanes: readonly number[]): string {
    return lanes.map((lane) => lane.toString(16).padStart(8, "0")).join("");
}

/** Hashes of all keys, one array per lane. */
export class KeyHashes {
    readonly lanes: Uint32Array[];

    constructor(names: Names) {
        this.lanes = SEEDS.map((seed) => Uint32Array.from({ length: names.count }, (_, key) => hashText(names.identity(key), seed)));
    }
}

export function pathOf(tree: Tree, node: number, keys: KeyHashes): string {
    const path = pathTo(tree, node);
    return hex(keys.lanes.map((lane) => path.reduce((above, at) => step(above, lane[tree.key[at]!]!), 0)));
}

/** The node of that path; 0 if there is none. */
export function findPath(tree: Tree, path: string, keys: KeyHashes): number {
    if (!/^[0-9a-f]{16}$/.test(path)) return 0;
    const wanted = [parseInt(path.slice(0, 8), 16), parseInt(path.slice(8), 16)];
    const hashes = keys.lanes.map(() => new Uint32Array(tree.count));
    for (let i = 1; i < tree.count; i++) {
        let same = true;
        for (let lane = 0; lane < 2; lane++) {
            const hash = step(hashes[lane]![tree.parent[i]!]!, keys.lanes[lane]![tree.key[i]!]!);
            hashes[lane]![i] = hash;
            if (hash !== wanted[lane]) same = false;
        }
        if (same) return i;
    }
    return 0;
}

/** Source nodes below removed stacks, as the forward tree of `spec` would place them; groups do not count. */
export function markRemoved(profile: Profile, names: Names, keys: KeyHashes, spec: ForwardSpec, removed: RemovedStack[],
                            marked: Uint8Array): void {
    const { nodes } = profile;
    const wanted = new Set(removed.filter((stack) => !stack.reversed).map((stack) => stack.path));
    const reversed = new Set(removed.filter((stack) => stack.reversed).map((stack) => stack.path));
    const hashes = keys.lanes.map(() => new Uint32Array(nodes.count));
    // The nearest node that is not skipped; 0 is the root.
    const shown = new Uint32Array(nodes.count);
    for (let i = 1; i < nodes.count; i++) {
        const above = nodes.parent[i]!;
        const key = names.ofFrame[nodes.frame[i]!]!;
        const aboveShown = shown[above]!;
        const skipped = spec.hidden?.[key] === 1 ||
            (spec.fold && aboveShown > 0 && names.ofFrame[nodes.frame[aboveShown]!] === key);
        shown[i] = skipped ? aboveShown : i;
        for (let lane = 0; lane < 2; lane++) {
            const hash = hashes[lane]![above]!;
            hashes[lane]![i] = skipped ? hash : step(hash, keys.lanes[lane]![key]!);
        }
        if (marked[above] || (wanted.size > 0 && wanted.has(hex([hashes[0]![i]!, hashes[1]![i]!])))) marked[i] = 1;
    }
    if (reversed.size > 0) markReversed(profile, names, keys, shown, reversed, marked);
}

/** Stacks whose innermost frames make one of the paths. */
function markReversed(profile: Profile, names: Names, keys: KeyHashes, shown: Uint32Array, wanted: Set<string>,
                      marked: Uint8Array): void {
    const { nodes, rows } = profile;
    let last = -1;
    for (let i = 0; i < rows.count; i++) {
        const leaf = rows.node[i]!;
        if (leaf === last) continue;
        last = leaf;
        let high = 0;
        let low = 0;
        for (let at = shown[leaf]!; at > 0; at = shown[nodes.parent[at]!]!) {
            const key = names.ofFrame[nodes.frame[at]!]!;
            high = step(high, keys.lanes[0]![key]!);
            low = step(low, keys.lanes[1]![key]!);
            if (wanted.has(hex([high, low]))) {
                marked[leaf] = 1;
                break;
            }
        }
    }
}
