// Writes data parts as docs/PAGE_DATA.md describes, for tests.
import type { Meta } from "../src/profile.js";

export interface TestRow {
    /** Frames from the root, "name" or "name|display|file|line|kind". */
    stack: string[];
    labels?: Record<string, string>;
    /** Tick from 0. */
    tick?: number;
    count: number;
    value?: number;
    event?: number;
    side?: number;
}

class Writer {
    bytes: number[] = [];

    varint(value: number): this {
        while (value >= 128) {
            this.bytes.push((value % 128) | 128);
            value = Math.floor(value / 128);
        }
        this.bytes.push(value);
        return this;
    }

    part(other: Writer | Uint8Array | number[]): this {
        const bytes = other instanceof Writer ? other.bytes : other;
        this.varint(bytes.length);
        for (const byte of bytes) this.bytes.push(byte);
        return this;
    }

    column(values: number[]): this {
        const column = new Writer();
        for (const value of values) column.varint(value);
        return this.part(column);
    }
}

interface SourceNode { frame: number; children: Map<number, SourceNode>; rows: TestRow[] }

export function encodeProfile(meta: Partial<Meta>, rows: TestRow[]): Uint8Array<ArrayBuffer> {
    const full: Meta = { title: "test", events: [{ name: "samples", used: true, count_scale: 1 }], labels: [], ...meta };
    const encoder = new TextEncoder();
    const strings = new Set<string>();
    const frameTexts = new Map<string, number>();
    for (const row of rows) {
        for (const frame of row.stack) if (!frameTexts.has(frame)) frameTexts.set(frame, frameTexts.size);
        for (const value of Object.values(row.labels ?? {})) strings.add(value);
    }
    const parsed = [...frameTexts.keys()].map((text) => text.split("|"));
    for (const [name, display, file] of parsed) for (const text of [name, display, file]) if (text) strings.add(text);
    strings.add("");
    const compare = (a: Uint8Array, b: Uint8Array): number => {
        for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
        return a.length - b.length;
    };
    const sorted = [...strings].map((text) => ({ text, bytes: encoder.encode(text) })).sort((a, b) => compare(a.bytes, b.bytes));
    const id = new Map(sorted.map((entry, index) => [entry.text, index]));

    const stringPart = new Writer().varint(sorted.length);
    const shared: number[] = [];
    const rest: number[] = [];
    const suffixes: number[] = [];
    let last = new Uint8Array(0);
    for (const { bytes } of sorted) {
        let same = 0;
        while (same < Math.min(last.length, bytes.length) && last[same] === bytes[same]) same++;
        shared.push(same);
        rest.push(bytes.length - same);
        for (const byte of bytes.subarray(same)) suffixes.push(byte);
        last = bytes;
    }
    stringPart.column(shared).column(rest).part(suffixes);

    const optional = (text: string | undefined): number => (text ? id.get(text)! + 1 : 0);
    const framePart = new Writer().varint(parsed.length)
        .column(parsed.map((f) => id.get(f[0]!)!)).column(parsed.map((f) => optional(f[1]))).column(parsed.map((f) => optional(f[2])))
        .column(parsed.map((f) => Number(f[3] ?? 0))).column(parsed.map((f) => Number(f[4] ?? 0)));

    const root: SourceNode = { frame: parsed.length, children: new Map(), rows: [] };
    for (const row of rows) {
        let node = root;
        for (const text of row.stack) {
            const frame = frameTexts.get(text)!;
            let child = node.children.get(frame);
            if (!child) node.children.set(frame, child = { frame, children: new Map(), rows: [] });
            node = child;
        }
        node.rows.push(row);
    }
    const pops: number[] = [];
    const codes: number[] = [];
    const lastCallee = new Map<number, number>();
    const ordered: { row: TestRow; node: number }[] = root.rows.map((row) => ({ row, node: 0 }));
    const stack: { node: SourceNode; parent: number; level: number }[] = [];
    const push = (node: SourceNode, level: number): void => {
        for (const child of [...node.children.values()].reverse()) stack.push({ node: child, parent: node.frame, level });
    };
    push(root, 0);
    let level = -1;
    for (let made = 1; stack.length > 0; made++) {
        const top = stack.pop()!;
        pops.push(level + 1 - top.level);
        level = top.level;
        codes.push((lastCallee.get(top.parent) ?? 0) === top.node.frame ? 0 : top.node.frame + 1);
        lastCallee.set(top.parent, top.node.frame);
        for (const row of top.node.rows) ordered.push({ row, node: made });
        push(top.node, level + 1);
    }
    const nodePart = new Writer().varint(pops.length).column(pops).column(codes);

    const setIds = new Map<string, number>();
    const setOf = (row: TestRow): number => {
        const text = JSON.stringify(full.labels.map((key) => optional(row.labels?.[key])));
        if (!setIds.has(text)) setIds.set(text, setIds.size);
        return setIds.get(text)!;
    };
    const rowPart = new Writer().varint(ordered.length)
        .column(ordered.map(({ node }, i) => node - (i > 0 ? ordered[i - 1]!.node : 0)));
    if (full.events.length > 1) rowPart.column(ordered.map(({ row }) => row.event ?? 0));
    if (full.sides) rowPart.column(ordered.map(({ row }) => row.side ?? 0));
    if (full.labels.length > 0) rowPart.column(ordered.map(({ row }) => setOf(row)));
    if (full.time) {
        const ticks = ordered.map(({ row }) => (row.tick ?? -1) + 1);
        rowPart.column(ticks.map((tick, i) => {
            const delta = tick - (i > 0 ? ticks[i - 1]! : 0);
            return delta >= 0 ? delta * 2 : -delta * 2 - 1;
        }));
    }
    rowPart.column(ordered.map(({ row }) => row.count));
    if (full.events.some((event) => event.unit)) rowPart.column(ordered.map(({ row }) => row.value ?? 0));
    const sets = [...setIds.keys()].map((text) => JSON.parse(text) as number[]);
    const setPart = new Writer().varint(sets.length);
    for (let key = 0; key < full.labels.length; key++) setPart.column(sets.map((set) => set[key]!));

    const out = new Writer();
    out.bytes.push(..."SFPD".split("").map((c) => c.charCodeAt(0)), 1);
    const section = (tag: number, part: Writer | Uint8Array): void => { out.bytes.push(tag); out.part(part); };
    section(1, encoder.encode(JSON.stringify(full)));
    section(2, stringPart);
    section(3, framePart);
    section(4, nodePart);
    if (full.labels.length > 0) section(5, setPart);
    section(6, rowPart);
    return Uint8Array.from(out.bytes);
}

/** Rows from folded lines: "a;b;c 5", or two counts for a comparison. */
export function folded(text: string): TestRow[] {
    return text.trim().split("\n").flatMap((line) => {
        const match = /^\s*(.*?)((?: \d+)+)$/.exec(line)!;
        const counts = match[2]!.trim().split(" ").map(Number);
        return counts.map((count, side) => ({ stack: match[1]!.split(";"), count, side }));
    });
}
