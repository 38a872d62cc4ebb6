// The decoded data part of a page; docs/PAGE_DATA.md describes the bytes.
import { ByteReader, unzigzag } from "./bytes.js";
import type { HostComparison } from "./hosts.js";

/** One kind of sample: "cpu", "alloc" … */
export interface ProfileEvent {
    name: string;
    used: boolean;
    /** Stored counts times this are real ones. */
    count_scale: number;
    /** Present if samples carry a value besides their count. */
    unit?: string;
    value_scale?: number;
    /** Widths follow the value at first. */
    by_value?: boolean;
}

export interface TimeScale {
    start_ms: number;
    tick_ns: number;
    ticks: number;
    absolute?: boolean;
    /** "samples": no times are known, ticks are places in their order. */
    unit?: string;
}

export interface Meta {
    title: string;
    subtitle?: string;
    notes?: string;
    /** Of a recording of several hosts. */
    hosts?: HostComparison;
    generator?: string;
    events: ProfileEvent[];
    /** Names of the two inputs of a comparison, before and after; absent otherwise. */
    sides?: string[];
    labels: string[];
    time?: TimeScale;
    /** Show shortened names, one box per line, at first. */
    readable?: boolean;
    lines?: boolean;
    /** First state of the page, written like the part behind # in its address. */
    view?: string;
}

/** What widths can mean: an event's value or its count. */
export interface ValueType {
    name: string;
    unit: string;
    event: number;
    byValue: boolean;
    scale: number;
}

export const KINDS = [
    "unknown", "interpreted", "C1-compiled", "compiled", "inlined", "native", "C++", "kernel", "Python", "C extension",
    "class", "group",
] as const;

/** Strings, sorted by bytes; made into text when first asked for. */
export class StringTable {
    private readonly cache: (string | undefined)[];
    private readonly whole: string | undefined;
    private readonly decoder = new TextDecoder();

    constructor(private readonly bytes: Uint8Array, private readonly offsets: Uint32Array) {
        this.cache = new Array<string | undefined>(offsets.length - 1);
        const text = this.decoder.decode(bytes);
        // Only then does a byte's place equal its character's place.
        if (text.length === bytes.length && !text.includes("\ufffd")) this.whole = text;
    }

    get count(): number {
        return this.offsets.length - 1;
    }

    /** What makes a table of these strings and further ones behind them. */
    extended(texts: readonly string[]): [Uint8Array, Uint32Array] {
        const added = texts.map((text) => new TextEncoder().encode(text));
        const bytes = new Uint8Array(this.bytes.length + added.reduce((sum, one) => sum + one.length, 0));
        const offsets = new Uint32Array(this.offsets.length + added.length);
        bytes.set(this.bytes);
        offsets.set(this.offsets);
        added.forEach((one, i) => {
            bytes.set(one, offsets[this.count + i]!);
            offsets[this.count + i + 1] = offsets[this.count + i]! + one.length;
        });
        return [bytes, offsets];
    }

    text(id: number): string {
        let text = this.cache[id];
        if (text === undefined) {
            const begin = this.offsets[id]!;
            const end = this.offsets[id + 1]!;
            text = this.whole !== undefined ? this.whole.slice(begin, end)
                                            : this.decoder.decode(this.bytes.subarray(begin, end));
            this.cache[id] = text;
        }
        return text;
    }
}

/** Column-wise; `display`, `file` are string ids plus one, 0 for none. */
export interface Frames {
    count: number;
    name: Uint32Array;
    display: Uint32Array;
    file: Uint32Array;
    line: Uint32Array;
    kind: Uint8Array;
}

/** The stack tree in preorder; node 0 is the root and has no frame. */
export interface Nodes {
    count: number;
    parent: Uint32Array;
    frame: Uint32Array;
}

/** What was sampled, ordered by node. A column that the profile does not need is empty. */
export interface Rows {
    count: number;
    node: Uint32Array;
    event: Uint32Array;
    /** 0 before, 1 after. */
    side: Uint32Array;
    /** Index of a label set. */
    set: Uint32Array;
    /** Tick plus one, 0 for "no time". */
    tick: Uint32Array;
    counts: Float64Array;
    values: Float64Array;
}

export interface Profile {
    meta: Meta;
    types: ValueType[];
    strings: StringTable;
    frames: Frames;
    nodes: Nodes;
    /** Per label key: string id plus one of each label set, 0 if it lacks this label. */
    sets: Uint32Array[];
    rows: Rows;
}

const enum Section { meta = 1, strings, frames, nodes, sets, rows }

export function decodeProfile(bytes: Uint8Array): Profile {
    const reader = new ByteReader(bytes);
    const magic = String.fromCharCode(...reader.slice(4));
    if (magic !== "SFPD") throw new Error("the data part does not begin as expected");
    const version = reader.byte();
    if (version !== 1) throw new Error(`the data part has version ${version}; this page reads version 1`);
    const parts = new Map<number, ByteReader>();
    while (reader.at < reader.end) {
        const tag = reader.byte();
        parts.set(tag, reader.part());
    }
    const part = (tag: Section): ByteReader => {
        const found = parts.get(tag);
        if (!found) throw new Error(`part ${tag} of the data is missing`);
        return found;
    };
    const metaPart = part(Section.meta);
    const meta = JSON.parse(new TextDecoder().decode(metaPart.slice(metaPart.end - metaPart.at))) as Meta;
    if (meta.sides) meta.sides = shortSides(meta.sides);
    const frames = decodeFrames(part(Section.frames));
    const nodes = decodeNodes(part(Section.nodes), frames.count);
    return {
        meta, frames, nodes,
        types: typesOf(meta),
        strings: decodeStrings(part(Section.strings)),
        sets: meta.labels.length > 0 ? decodeSets(part(Section.sets), meta.labels.length) : [],
        rows: decodeRows(part(Section.rows), meta, nodes.count),
    };
}

/** Files of a comparison by their last names, if those differ. */
function shortSides(sides: string[]): string[] {
    const short = sides.map((side) => side.slice(side.lastIndexOf("/") + 1));
    return short[0] !== short[1] && short.every((side) => side !== "") ? short : sides;
}

function decodeStrings(reader: ByteReader): StringTable {
    const count = reader.count();
    const shared = reader.column32(count);
    const rest = reader.column32(count);
    const suffixes = reader.part();
    const offsets = new Uint32Array(count + 1);
    for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i]! + shared[i]! + rest[i]!;
    const bytes = new Uint8Array(offsets[count]!);
    for (let i = 0; i < count; i++) {
        const begin = offsets[i]!;
        if (i > 0) bytes.copyWithin(begin, offsets[i - 1]!, offsets[i - 1]! + shared[i]!);
        bytes.set(suffixes.slice(rest[i]!), begin + shared[i]!);
    }
    return new StringTable(bytes, offsets);
}

function decodeFrames(reader: ByteReader): Frames {
    const count = reader.count();
    const name = reader.column32(count);
    const display = reader.column32(count);
    const file = reader.column32(count);
    const line = reader.column32(count);
    return { count, name, display, file, line, kind: Uint8Array.from(reader.column32(count)) };
}

function decodeNodes(reader: ByteReader, frameCount: number): Nodes {
    const stored = reader.count();
    const pops = reader.column32(stored);
    const codes = reader.column32(stored);
    const parent = new Uint32Array(stored + 1);
    const frame = new Uint32Array(stored + 1);
    // A frame mostly calls what it called last: code 0 means that. The root counts as frame `frameCount`.
    const lastCallee = new Uint32Array(frameCount + 1);
    frame[0] = frameCount;
    for (let i = 1; i <= stored; i++) {
        let above = i - 1;
        for (let pop = pops[i - 1]!; pop > 0; pop--) above = parent[above]!;
        const caller = frame[above]!;
        const code = codes[i - 1]!;
        const callee = code === 0 ? lastCallee[caller]! : code - 1;
        if (callee >= frameCount) throw new Error("a stack of the data part names a frame that is not there");
        lastCallee[caller] = callee;
        parent[i] = above;
        frame[i] = callee;
    }
    return { count: stored + 1, parent, frame };
}

function decodeSets(reader: ByteReader, keys: number): Uint32Array[] {
    const count = reader.varint();
    const sets: Uint32Array[] = [];
    for (let key = 0; key < keys; key++) sets.push(reader.column32(count));
    return sets;
}

function decodeRows(reader: ByteReader, meta: Meta, nodeCount: number): Rows {
    const count = reader.count();
    const optional = (present: boolean): Uint32Array => (present ? reader.column32(count) : new Uint32Array(0));
    const node = reader.column32(count);
    for (let i = 1; i < count; i++) node[i]! += node[i - 1]!;
    if (count > 0 && node[count - 1]! >= nodeCount) throw new Error("a sample of the data part has no stack");
    const event = optional(meta.events.length > 1);
    const side = optional(meta.sides !== undefined);
    const set = optional(meta.labels.length > 0);
    const tick = optional(meta.time !== undefined);
    let last = 0;
    for (let i = 0; i < tick.length; i++) tick[i] = last += unzigzag(tick[i]!);
    const counts = reader.column53(count);
    const values = meta.events.some((one) => one.unit !== undefined) ? reader.column53(count) : new Float64Array(0);
    return { count, node, event, side, set, tick, counts, values };
}

/** The value of an event, if any, comes before its count. The page opens with the first type: cpu, if there is any. */
function typesOf(meta: Meta): ValueType[] {
    const types: ValueType[] = [];
    meta.events.forEach((event, index) => {
        if (!event.used && meta.events.some((other) => other.used)) return;
        const counted = { name: event.name, unit: "count", event: index, byValue: false, scale: event.count_scale };
        if (event.unit === undefined) {
            types.push(counted);
            return;
        }
        const valued = { name: event.name, unit: event.unit, event: index, byValue: true, scale: event.value_scale ?? 1 };
        counted.name = event.name === "samples" ? "sample count" : `${event.name} samples`;
        types.push(...(event.by_value ? [valued, counted] : [counted, valued]));
    });
    const isCpu = (type: ValueType): number => Number(meta.events[type.event]!.name === "cpu");
    types.sort((a, b) => isCpu(b) - isCpu(a));
    if (types.length === 0) types.push({ name: "samples", unit: "count", event: 0, byValue: false, scale: 1 });
    types.forEach((type, i) => {
        const twins = types.slice(0, i).filter((other) => other.event !== type.event && other.unit === type.unit &&
            other.name.replace(/ #\d+$/, "") === type.name).length;
        if (twins > 0) type.name += ` #${twins + 1}`;
    });
    return types;
}
