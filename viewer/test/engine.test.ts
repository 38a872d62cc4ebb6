import { test } from "node:test";
import assert from "node:assert/strict";
import { Engine } from "../src/engine.js";
import { decodeProfile, type ProfileEvent } from "../src/profile.js";
import { DEFAULT_STATE, type State } from "../src/state.js";
import { pathOf } from "../src/path_hash.js";
import { encodeProfile, folded, type TestRow } from "./encode.js";
import { boxes, profileOf } from "./model.js";

function shownBoxes(engine: Engine, change: Partial<State>): string[] {
    const state = { ...DEFAULT_STATE, ...change };
    return boxes(engine.shown(state).tree, engine.names(state));
}

function pathTo(engine: Engine, state: State, name: string): string {
    const { tree } = engine.shown(state);
    const node = tree.key.findIndex((key, i) => i > 0 && engine.names(state).text(key) === name);
    return pathOf(tree, node, engine.hashes(state));
}

test("readable names merge what differs only in recorded ones, and zoom stays", () => {
    const engine = new Engine(decodeProfile(encodeProfile({}, folded("m;L$1|lambda;x 1\nm;L$2|lambda;x 2"))));
    assert.deepEqual(shownBoxes(engine, {}), ["m 3 0", "m;lambda 3 0", "m;lambda;x 3 3"]);
    assert.deepEqual(shownBoxes(engine, { readable: false }), ["m 3 0", "m;L$1 1 0", "m;L$1;x 1 1", "m;L$2 2 0", "m;L$2;x 2 2"]);
    const zoom = pathTo(engine, DEFAULT_STATE, "lambda");
    assert.equal(engine.shown({ ...DEFAULT_STATE, zoom }).zoom, 2);
    assert.equal(engine.shown({ ...DEFAULT_STATE, zoom, readable: false }).zoom, 2);
});

test("lines make boxes of their own", () => {
    const engine = new Engine(profileOf("m;f||F.java|10 1\nm;f||F.java|20 2"));
    assert.deepEqual(shownBoxes(engine, { lines: true }), ["m 3 0", "m;f:10 1 1", "m;f:20 2 2"]);
});

test("a stack is taken out by its path, with hiding and folding on", () => {
    const engine = new Engine(profileOf("m;h;a 1\nm;a;a;b 2\nm;c 4"));
    const state = { ...DEFAULT_STATE, hidden: ["h"], fold: true };
    assert.deepEqual(shownBoxes(engine, state), ["m 7 0", "m;a 3 1", "m;a;b 2 2", "m;c 4 4"]);
    const removed = [{ path: pathTo(engine, state, "a"), name: "a", reversed: false }];
    assert.deepEqual(shownBoxes(engine, { ...state, removed }), ["m 4 0", "m;c 4 4"]);
});

test("a reversed stack is taken out by its path from the leaf", () => {
    const engine = new Engine(profileOf("m;a;x 1\nm;b;x 2\nm;x 4"));
    const state = { ...DEFAULT_STATE, reverse: true };
    const removed = [{ path: pathTo(engine, state, "b"), name: "b", reversed: true }];
    assert.deepEqual(shownBoxes(engine, { removed }), ["m 5 0", "m;a 1 0", "m;a;x 1 1", "m;x 4 4"]);
});

test("comparison brings both sides to one size", () => {
    const engine = new Engine(profileOf("m;a 10 60\nm;b 40 0\nm;c 50 140", { sides: ["x/before", "x/after"] }));
    assert.deepEqual(engine.profile.meta.sides, ["before", "after"]);
    assert.deepEqual(engine.factors(DEFAULT_STATE), [2, 1]);
    assert.deepEqual([...engine.shown(DEFAULT_STATE).tree.weight], [200, 200, 40, 40, 120]);
    assert.deepEqual([...engine.shown({ ...DEFAULT_STATE, normalize: false, width: "before" }).tree.weight], [100, 100, 10, 40, 50]);
});

test("a comparison of recordings without a common event takes one of each", () => {
    const event = (name: string): ProfileEvent => ({ name, used: true, count_scale: 1 });
    const engine = (...rows: TestRow[]): Engine =>
        new Engine(decodeProfile(encodeProfile({ sides: ["before", "after"], events: [event("cpu"), event("wall"), event("lock")] }, rows)));
    const row = (event: number, side: number, count: number): TestRow => ({ stack: ["m"], event, side, count });
    const apart = engine(row(0, 0, 10), row(1, 1, 30));
    assert.deepEqual(apart.startTypes(), { type: "wall/count", typeBefore: "cpu/count" });
    assert.deepEqual(apart.selection({ ...DEFAULT_STATE, ...apart.startTypes() }).totals, [10, 30]);
    assert.deepEqual(apart.selection({ ...DEFAULT_STATE, type: "wall/count" }).totals, [0, 30]);
    assert.deepEqual(engine(row(0, 0, 10), row(2, 0, 1), row(2, 1, 3)).startTypes(), { type: "lock/count", typeBefore: "" });
    assert.deepEqual(engine(row(0, 0, 10), row(0, 1, 3)).startTypes(), { type: "", typeBefore: "" });
});

test("two events of one name and unit get different names", () => {
    const event = { name: "samples", used: true, count_scale: 1 };
    const profile = decodeProfile(encodeProfile({ events: [event, event, { ...event, used: false }] }, folded("m 1")));
    assert.deepEqual(profile.types.map((type) => type.name), ["samples", "samples #2"]);
});

test("the strip has a row per group, and the rest in the last", () => {
    const rows = Array.from({ length: 20 }, (_, i) => ({ stack: ["m"], count: 20 - i, tick: i % 4, labels: { thread: `t${i}` } }));
    const engine = new Engine(decodeProfile(encodeProfile({ labels: ["thread"], time: { start_ms: 0, tick_ns: 1, ticks: 4 } }, rows)));
    const whole = (strip: { rows: Float64Array[] }): number => strip.rows.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0);
    assert.equal(engine.strip(DEFAULT_STATE).rows.length, 1);
    const grouped = engine.strip({ ...DEFAULT_STATE, group: "thread" });
    assert.deepEqual([grouped.texts[0], grouped.texts[7], grouped.rows.length], ["t0", "other", 8]);
    assert.equal(whole(grouped), 210);
    assert.equal(whole(engine.strip({ ...DEFAULT_STATE, time: [0, 1] })), 210);
});

test("groups are ordered by their numbers", () => {
    const rows = ["10", "9", "100"].map((stage) => ({ stack: ["m"], count: 1, labels: { stage } }));
    const engine = new Engine(decodeProfile(encodeProfile({ labels: ["stage"] }, rows)));
    assert.deepEqual(shownBoxes(engine, { group: "stage" }).filter((line) => !line.includes(";")), ["stage 9 1 0", "stage 10 1 0", "stage 100 1 0"]);
});
