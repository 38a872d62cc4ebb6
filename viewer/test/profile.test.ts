import { test } from "node:test";
import assert from "node:assert/strict";
import { decodeBase64, decompress } from "../src/bytes.js";
import { decodeProfile } from "../src/profile.js";
import { markStacks, select } from "../src/selection.js";
import { encodeProfile, folded, type TestRow } from "./encode.js";
import { arranged, boxes, forward, namesOf, profileOf } from "./model.js";

const labelled: TestRow[] = [
    { stack: ["m", "a"], labels: { thread: "t1", state: "RUNNABLE" }, tick: 0, count: 1, value: 100 },
    { stack: ["m", "a"], labels: { thread: "t2" }, tick: 5, count: 2, value: 200 },
    { stack: ["m", "b"], labels: { thread: "t1" }, tick: 9, count: 4, value: 2 ** 40 },
];
const labelledMeta = {
    events: [{ name: "cpu", used: true, count_scale: 10, unit: "nanoseconds", value_scale: 3, by_value: false }],
    labels: ["thread", "state"], time: { start_ms: 0, tick_ns: 1e6, ticks: 10 },
};

test("strings that are not ASCII, empty or share a prefix survive", () => {
    const profile = profileOf("org.a.B;org.a.Bé;日本;org 1");
    const names = namesOf(profile);
    assert.deepEqual([...profile.frames.name].map((id) => profile.strings.text(id)), ["org.a.B", "org.a.Bé", "日本", "org"]);
    assert.equal(names.find("日本") >= 0, true);
});

test("times, labels, scales and large values decode", () => {
    const profile = decodeProfile(encodeProfile(labelledMeta, labelled));
    assert.deepEqual([...profile.rows.tick], [1, 6, 10]);
    assert.equal(profile.rows.values[2], 2 ** 40);
    assert.deepEqual(profile.types.map((type) => `${type.name}/${type.unit}`), ["cpu samples/count", "cpu/nanoseconds"]);
    const all = { ticks: null, labels: [], dropped: null };
    assert.deepEqual(select(profile, { ...all, type: 0 }).totals, [70]);
    assert.deepEqual(select(profile, { ...all, type: 1, ticks: [0, 8] }).totals, [900]);
    assert.deepEqual(select(profile, { ...all, type: 0, ticks: [1, 8] }).totals, [20]);
    assert.deepEqual(select(profile, { ...all, type: 0, labels: [{ key: "thread", value: "t1" }] }).totals, [50]);
    assert.deepEqual(select(profile, { ...all, type: 0, labels: [{ key: "state", value: "" }] }).totals, [60]);
});

test("patterns drop whole stacks", () => {
    const profile = profileOf("m;a;x 1\nm;b 2");
    const names = namesOf(profile);
    const dropped = markStacks(profile, names.matchingFrames(/^a$/u));
    assert.deepEqual(select(profile, { type: 0, ticks: null, labels: [], dropped }).totals, [2]);
});

test("a label makes the first level", () => {
    const profile = decodeProfile(encodeProfile(labelledMeta, labelled));
    const names = namesOf(profile);
    assert.deepEqual(boxes(arranged(forward(profile, names, { groupBy: 0 }).tree, names), names), [
        "thread t1 50 0", "thread t1;m 50 0", "thread t1;m;a 10 10", "thread t1;m;b 40 40",
        "thread t2 20 0", "thread t2;m 20 0", "thread t2;m;a 20 20",
    ]);
});

/** Node 18 has the streams, but not this format; the browser's tests unpack real pages in any case. */
function knowsDeflateRaw(): boolean {
    try {
        return new CompressionStream("deflate-raw") !== null;
    } catch {
        return false;
    }
}

test("base64 and compression are undone", async () => {
    const bytes = encodeProfile({}, folded("a;b 1"));
    assert.deepEqual(await decompress(decodeBase64(btoa("abc")), "identity"), new TextEncoder().encode("abc"));
    await assert.rejects(decompress(bytes, "lzma"), /unknown data encoding/);
    if (!knowsDeflateRaw()) return;
    const packed = new Uint8Array(await new Response(
        new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"))).arrayBuffer());
    let binary = "";
    for (const byte of packed) binary += String.fromCharCode(byte);
    assert.deepEqual(await decompress(decodeBase64(btoa(binary)), "deflate-raw"), bytes);
});

test("cut and damaged data is refused with a message, never endless", () => {
    const bytes = encodeProfile(labelledMeta, labelled);
    for (let length = 0; length < bytes.length; length++) assert.throws(() => decodeProfile(bytes.subarray(0, length)));
    assert.throws(() => decodeProfile(new TextEncoder().encode("hello world")), /does not begin/);
    for (let i = 5; i < bytes.length; i++) {
        const damaged = bytes.slice();
        damaged[i]! ^= 0x55;
        try {
            decodeProfile(damaged);
        } catch (error) {
            assert.ok(error instanceof Error, `byte ${i} threw ${String(error)}`);
        }
    }
});
