import { test } from "node:test";
import assert from "node:assert/strict";
import { decodeProfile, type Meta } from "../src/profile.js";
import { Engine } from "../src/engine.js";
import { DEFAULT_STATE, type State } from "../src/state.js";
import { foldedText } from "../src/exports.js";
import { axisMarks } from "../src/time_strip.js";
import { encodeProfile, type TestRow } from "./encode.js";

const TIME = { start_ms: 0, tick_ns: 1e6, ticks: 100 };

function engineOf(rows: [string, number, string?][], meta: Partial<Meta> = {}): Engine {
    const made = rows.map(([stack, tick, thread]): TestRow => ({ stack: stack.split(";"), tick, count: 1, ...(thread ? { labels: { thread } } : {}) }));
    return new Engine(decodeProfile(encodeProfile({ time: TIME, labels: rows.some((row) => row[2]) ? ["thread"] : [], ...meta }, made)));
}

/** "level name begin-end" of every box. */
function boxes(engine: Engine, change: Partial<State> = {}): string[] {
    const state = { ...DEFAULT_STATE, ...change };
    const { tree } = engine.chart(state);
    const names = engine.names(state);
    return Array.from({ length: tree.count - 1 }, (_, i) =>
        `${tree.level[i + 1]} ${names.text(tree.key[i + 1]!)} ${tree.x[i + 1]}-${tree.x[i + 1]! + tree.weight[i + 1]!}`);
}

test("boxes stand in the order of time and go on as far as neighbours agree", () => {
    const engine = engineOf([["a;b", 0], ["a;c", 10], ["a;c;d", 20], ["a;b", 30]]);
    // The last sample lasts as long as samples may last: 2.5 times their usual distance.
    assert.deepEqual(boxes(engine), ["1 a 0-55", "2 b 0-10", "2 c 10-30", "3 d 20-30", "2 b 30-55"]);
});

test("where nothing was sampled for long, there is a gap", () => {
    const engine = engineOf([["a", 0], ["a", 2], ["a", 4], ["a", 50], ["a", 52]]);
    assert.deepEqual(boxes(engine), ["1 a 0-9", "1 a 50-57"]);
});

test("each thread has a lane of its own, the busiest first", () => {
    const engine = engineOf([["a;b", 0, "t1"], ["c", 0, "t2"], ["c", 50, "t2"], ["c", 90, "t2"]]);
    assert.deepEqual(boxes(engine), ["1 thread t2 0-100", "2 c 0-100", "3 thread t1 0-100", "4 a 0-2.5", "5 b 0-2.5"]);
});

test("stacks of one moment share it", () => {
    const engine = engineOf([["a", 0], ["b", 0], ["a", 10], ["a", 20]]);
    assert.deepEqual(boxes(engine), ["1 a 0-5", "1 b 5-10", "1 a 10-45"]);
});

test("hidden methods and recursion are left out, filters and time apply", () => {
    const engine = engineOf([["a;h;a;b", 0], ["a;c", 10], ["x", 20]]);
    assert.deepEqual(boxes(engine, { hidden: ["h"], fold: true, drop: "x" }), ["1 a 0-35", "2 b 0-10", "2 c 10-35"]);
    assert.deepEqual(boxes(engine, { time: [10, 19] }), ["1 a 10-12.5", "2 c 10-12.5"]);
    const { tree } = engine.chart({ ...DEFAULT_STATE, time: [10, 19] });
    assert.deepEqual([tree.x[0], tree.weight[0]], [10, 10]);
});

test("without times a sample lasts until the next one, however long that is", () => {
    const engine = engineOf([["a", 0], ["b", 1], ["c", 2], ["d", 40]], { time: { ...TIME, unit: "samples" } });
    assert.deepEqual(boxes(engine), ["1 a 0-1", "1 b 1-2", "1 c 2-40", "1 d 40-100"]);
});

test("values of a label are summed up per box", () => {
    const engine = engineOf([["a;b", 0, "t1"], ["a;b", 1, "t1"], ["a;c", 2, "t1"]]);
    const { tree } = engine.chart({ ...DEFAULT_STATE, color: "label:thread" });
    assert.deepEqual([...tree.total[1]!], [3, 3, 3, 2, 1]);
});

test("a chart is saved as folded stacks in the order of time", () => {
    const engine = engineOf([["a;b", 0], ["a;c", 1], ["a;b", 2]]);
    const { tree } = engine.chart(DEFAULT_STATE);
    const names = engine.names(DEFAULT_STATE);
    assert.equal(foldedText(tree, 0, 1, (node) => names.text(tree.key[node]!)), "a;b 1\na;c 1\na;b 1\n");
});

test("more boxes than can be drawn are drawn coarser, and nothing of their weight is lost", () => {
    const deep = Array.from({ length: 40 }, (_, i) => `f${i}`).join(";");
    const rows: [string, number, string][] = [];
    for (let tick = 0; tick < 2000; tick++) for (let thread = 0; thread < 16; thread++) rows.push([`${tick % 2 ? "x" : "y"};${deep}`, tick, `t${thread}`]);
    const engine = engineOf(rows, { time: { ...TIME, ticks: 2000 } });
    const chart = engine.chart(DEFAULT_STATE);
    assert.equal(chart.coarseness, 2);
    assert.equal(chart.tree.total[0]![0], rows.length);
    assert.equal(engine.chart({ ...DEFAULT_STATE, time: [0, 99] }).coarseness, 1);
});

test("marks of the axis are round moments", () => {
    const texts = (from: number, to: number, time = {}): string => axisMarks({ ...TIME, ...time }, from, to, 440).map((mark) => mark.text).join(" ");
    assert.equal(texts(0, 100), "0 s 0.05 s 0.1 s");
    assert.equal(texts(10, 20), "0.01 s 0.015 s 0.02 s");
    assert.equal(texts(0, 2000, { absolute: true, start_ms: 999_700 }), "00:16:40 00:16:40.500 00:16:41 00:16:41.500");
    const day = 86_400_000;
    assert.equal(texts(0, 2000, { absolute: true, start_ms: 1_700_000_000_123, tick_ns: 432e9 * 7, ticks: 2000 }), "2023-12-01 2023-12-19 2024-01-06");
    assert.equal(texts(0, 1000, { absolute: true, start_ms: 20_000 * day + day / 2, tick_ns: 10_800e7, ticks: 1000 }), "10-04 16:00 2024-10-05 10-05 08:00 10-05 16:00");
    assert.equal(texts(0, 100, { tick_ns: 1, unit: "samples" }), "0 50 100");
});
