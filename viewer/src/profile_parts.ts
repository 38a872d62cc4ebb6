// Parts of a profile as profiles of their own, and the label that stacks tell: the language of what ran.
import { KINDS, type Meta, type Profile, type Rows, StringTable } from "./profile.js";

/** Language by the kind of the innermost frame. */
const LANGUAGES = ["Java", "native", "kernel", "Python"] as const;

function languageOf(kind: number): number {
    const name = KINDS[kind] ?? "unknown";
    if (name === "native" || name === "C++") return 2;
    if (name === "kernel") return 3;
    return name === "Python" || name === "C extension" ? 4 : name === "unknown" || name === "class" || name === "group" ? 0 : 1;
}

/** For each stack: 0 for unknown, else the index in LANGUAGES plus one. Classes and unknown frames have their
 * caller's language. */
function stackLanguages(profile: Profile): Uint8Array {
    const { nodes, frames } = profile;
    const languages = new Uint8Array(nodes.count);
    for (let i = 1; i < nodes.count; i++) languages[i] = languageOf(frames.kind[nodes.frame[i]!]!) || languages[nodes.parent[i]!]!;
    return languages;
}

/** The same profile with the label "language". */
export function withLanguages(profile: Profile): Profile {
    const { meta, rows } = profile;
    const ofStack = stackLanguages(profile);
    if (meta.labels.includes("language") || !ofStack.some((language) => language > 0)) return profile;
    const strings = new StringTable(...profile.strings.extended(LANGUAGES));
    const firstText = profile.strings.count;
    const choices = LANGUAGES.length + 1;
    const setCount = Math.max(1, profile.sets[0]?.length ?? 1);
    const numbers = new Int32Array(setCount * choices).fill(-1);
    const made: number[] = [];
    const set = new Uint32Array(rows.count);
    for (let i = 0; i < rows.count; i++) {
        const key = (rows.set[i] ?? 0) * choices + ofStack[rows.node[i]!]!;
        if (numbers[key]! < 0) numbers[key] = made.push(key) - 1;
        set[i] = numbers[key]!;
    }
    const sets = profile.sets.map((column) => Uint32Array.from(made, (key) => column[Math.floor(key / choices)]!));
    sets.push(Uint32Array.from(made, (key) => (key % choices === 0 ? 0 : firstText + key % choices)));
    return { ...profile, strings, sets, meta: { ...meta, labels: [...meta.labels, "language"] }, rows: { ...rows, set } };
}

/** The most frequent values of a label, with the samples of each, in the order of their numbers or names. */
export function labelValues(profile: Profile, label: string, most: number): { value: string; count: number }[] {
    const column = profile.sets[profile.meta.labels.indexOf(label)];
    if (!column) return [];
    const ofSet = new Float64Array(column.length);
    for (let i = 0; i < profile.rows.count; i++) ofSet[profile.rows.set[i]!]! += profile.rows.counts[i]!;
    const counts = new Map<number, number>();
    for (let i = 0; i < column.length; i++) if (column[i]! > 0) counts.set(column[i]!, (counts.get(column[i]!) ?? 0) + ofSet[i]!);
    const order = new Intl.Collator("en", { numeric: true });
    const frequent = counts.size > most ? [...counts].sort((a, b) => b[1] - a[1]).slice(0, most) : [...counts];
    return frequent.map(([text, count]) => ({ value: profile.strings.text(text - 1), count })).sort((a, b) => order.compare(a.value, b.value));
}

/** Per label set what `choose` says of its values of these labels ("" where it has none). */
export function ofEachSet<T>(profile: Profile, labels: string[], choose: (...values: string[]) => T): T[] {
    const columns = labels.map((label) => profile.sets[profile.meta.labels.indexOf(label)]);
    const text = (column: Uint32Array | undefined, set: number): string => (column && column[set]! > 0 ? profile.strings.text(column[set]! - 1) : "");
    return Array.from({ length: profile.sets[0]?.length ?? 0 }, (_, set) => choose(...columns.map((column) => text(column, set))));
}

/** These rows of a profile, in this order. */
function takeRows(rows: Rows, chosen: Uint32Array, side: Uint32Array): Rows {
    const pick = <A extends Uint32Array | Float64Array>(column: A): A => {
        if (column.length === 0) return column;
        const made = new (column.constructor as new (length: number) => A)(chosen.length);
        for (let i = 0; i < chosen.length; i++) made[i] = column[chosen[i]!]!;
        return made;
    };
    return { count: chosen.length, node: pick(rows.node), event: pick(rows.event), side, set: pick(rows.set), tick: pick(rows.tick),
             counts: pick(rows.counts), values: pick(rows.values) };
}

/** The rows whose side is 0 or 1; others (-1) are left out. With names of sides it is a comparison. */
export function partOf(profile: Profile, sideOf: (row: number) => number, change: Partial<Meta>): Profile {
    const { rows } = profile;
    const chosen = new Uint32Array(rows.count), sides = new Uint32Array(rows.count);
    let count = 0;
    for (let i = 0; i < rows.count; i++) {
        const side = sideOf(i);
        if (side < 0) continue;
        sides[count] = side;
        chosen[count++] = i;
    }
    const meta: Meta = { ...profile.meta, ...change };
    if (!change.sides) delete meta.sides;
    return { ...profile, meta, rows: takeRows(rows, chosen.subarray(0, count), sides.slice(0, count)) };
}

/** A comparison of two parts, which may overlap. */
export function comparisonOf(profile: Profile, isBefore: (row: number) => boolean, isAfter: (row: number) => boolean, sides: [string, string]): Profile {
    const chosen: number[] = [], ofSide: number[] = [];
    for (let i = 0; i < profile.rows.count; i++) {
        for (const [side, fits] of [isBefore, isAfter].entries()) {
            if (!fits(i)) continue;
            chosen.push(i);
            ofSide.push(side);
        }
    }
    return { ...profile, meta: { ...profile.meta, title: `${sides[1]} compared with ${sides[0]}`, sides },
             rows: takeRows(profile.rows, Uint32Array.from(chosen), Uint32Array.from(ofSide)) };
}
