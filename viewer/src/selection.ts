// From rows to a weight per stack: value type, time range, label choices and stack patterns are applied here.
import type { Profile } from "./profile.js";

export interface LabelChoice {
    key: string;
    /** Empty for "has no such label". */
    value: string;
}

export interface SelectionSpec {
    type: number;
    /** Of the side "before"; the same if absent. */
    typeBefore?: number;
    /** First and last tick, inclusive; null for all of it. */
    ticks: [number, number] | null;
    labels: LabelChoice[];
    /** Source nodes whose stacks are left out (1), or null. */
    dropped: Uint8Array | null;
}

/** Rows that are left, by index, and the sums over them. */
export interface Selection {
    rows: Uint32Array;
    /** Value of each chosen row, in the unit of the type. */
    values: Float64Array;
    /** Side of each chosen row; empty if nothing is compared. */
    sides: Uint8Array;
    sideCount: number;
    totals: number[];
}

/** Which label sets pass all choices; null if all do. */
export function passingSets(profile: Profile, choices: LabelChoice[]): Uint8Array | null {
    if (choices.length === 0 || profile.sets.length === 0) return null;
    const count = profile.sets[0]!.length;
    const passes = new Uint8Array(count).fill(1);
    const byKey = new Map<number, Set<string>>();
    for (const choice of choices) {
        const key = profile.meta.labels.indexOf(choice.key);
        if (key < 0) continue;
        if (!byKey.has(key)) byKey.set(key, new Set());
        byKey.get(key)!.add(choice.value);
    }
    for (const [key, wanted] of byKey) {
        const column = profile.sets[key]!;
        for (let i = 0; i < count; i++) {
            const value = column[i] === 0 ? "" : profile.strings.text(column[i]! - 1);
            if (!wanted.has(value)) passes[i] = 0;
        }
    }
    return passes;
}

export function select(profile: Profile, spec: SelectionSpec): Selection {
    const { rows, meta } = profile;
    const sets = passingSets(profile, spec.labels);
    const type = profile.types[spec.type]!;
    const ticks = rows.tick.length > 0 ? spec.ticks : null;
    const first = ticks ? ticks[0] + 1 : 0;
    const last = ticks ? ticks[1] + 1 : 0;
    // By side: 0 before, 1 after; without a comparison all rows are those of the second.
    const types = [profile.types[spec.typeBefore ?? spec.type]!, type];
    const stored = types.map((one) => (one.byValue ? rows.values : rows.counts));
    const chosen = new Uint32Array(rows.count);
    const values = new Float64Array(rows.count);
    const sides = new Uint8Array(meta.sides ? rows.count : 0);
    const totals = meta.sides ? [0, 0] : [0];
    let count = 0;
    for (let i = 0; i < rows.count; i++) {
        const side = meta.sides ? rows.side[i]! : 1;
        if (rows.event.length > 0 && rows.event[i] !== types[side]!.event) continue;
        if (sets && !sets[rows.set[i]!]) continue;
        if (ticks && (rows.tick[i]! < first || rows.tick[i]! > last)) continue;
        if (spec.dropped && spec.dropped[rows.node[i]!]) continue;
        const value = stored[side]![i]! * types[side]!.scale;
        chosen[count] = i;
        values[count] = value;
        if (meta.sides) sides[count] = side;
        totals[meta.sides ? side : 0]! += value;
        count++;
    }
    return {
        rows: chosen.subarray(0, count), values: values.subarray(0, count),
        sides: sides.subarray(0, meta.sides ? count : 0), sideCount: totals.length, totals,
    };
}

/** Marks each source node that has a frame of `matched` on its stack, itself included. */
export function markStacks(profile: Profile, matched: Uint8Array): Uint8Array {
    const { parent, frame, count } = profile.nodes;
    const marked = new Uint8Array(count);
    for (let i = 1; i < count; i++) marked[i] = marked[parent[i]!]! | matched[frame[i]!]!;
    return marked;
}
