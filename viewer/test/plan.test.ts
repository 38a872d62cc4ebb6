import { test } from "node:test";
import assert from "node:assert/strict";
import { BOX_WIDTH, edgeWidth, layPlan, sharesOf } from "../src/plan_layout.js";
import type { Operator, OperatorMetric } from "../src/report_model.js";

const rows = (value: number): OperatorMetric => ({ name: "number of output rows", unit: "count", value });
const took = (value: number): OperatorMetric => ({ name: "duration", unit: "ms", value });
const node = (name: string, parent: number | null, ...metrics: OperatorMetric[]): Operator => ({ name, detail: name, parent, code: null, metrics, stages: [] });

/** A broadcast join in generated code: its small side is another query stage. */
const JOIN = [
    node("AdaptiveSparkPlan", null), node("WholeStageCodegen (2)", 0, took(900)), node("BroadcastHashJoin", 1, rows(50)),
    node("InputAdapter", 2), node("BroadcastQueryStage", 3), node("BroadcastExchange", 4, rows(5), took(100)), node("Scan small", 5, rows(5)),
    node("Project", 2), node("Scan large", 7, rows(1e6), { name: "scan time", unit: "ns", value: 600e6 }),
];

test("what only holds others together is not drawn, and generated code is a frame of one column", () => {
    const { boxes, clusters, width, height } = layPlan(JOIN);
    assert.deepEqual(boxes.map((box) => JOIN[box.operator]!.name), ["BroadcastHashJoin", "BroadcastExchange", "Scan small", "Project", "Scan large"]);
    assert.deepEqual(boxes.map((box) => box.output), [-1, 0, 1, 0, 3]);
    const [join, exchange, small, project, large] = boxes;
    assert.deepEqual([join!.x, project!.x, large!.x].map((x) => x === join!.x), [true, true, true]);
    assert.equal(exchange!.x, small!.x);
    assert.ok(exchange!.x >= join!.x + BOX_WIDTH && join!.y > project!.y && project!.y > large!.y && exchange!.y === project!.y);
    assert.equal(clusters.length, 1);
    const { x, y, width: wide, height: high } = clusters[0]!;
    assert.ok(x < join!.x && y < large!.y && x + wide < exchange!.x && y + high > join!.y);
    assert.ok(width > exchange!.x + BOX_WIDTH && height > join!.y);
});

test("rows pass through what does not count them", () => {
    assert.deepEqual(layPlan(JOIN).boxes.map((box) => box.rows), [50, 5, 5, 1e6, 1e6]);
    assert.equal(layPlan([node("Sort", null), node("Scan", 0)]).boxes[0]!.rows, null);
    assert.ok(edgeWidth(1e6) > edgeWidth(50) && edgeWidth(null) === 1 && edgeWidth(1e30) === 10);
});

test("shares are of the samples, else of the time", () => {
    const layout = layPlan(JOIN);
    assert.deepEqual([...sharesOf(JOIN, layout, new Map(), 0)], [0, 0.3, 0, 0, 0, 0.1, 0, 0, 0.6]);
    assert.deepEqual([...sharesOf(JOIN, layout, new Map([[2, 30], [1, 10]]), 40)], [0, 0.25, 0.75, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual([...sharesOf([node("Scan", null)], layPlan([node("Scan", null)]), new Map(), 0)], [0]);
});

test("no plan is too deep or too wide, and no two boxes overlap", () => {
    const deep = Array.from({ length: 20_000 }, (_, i) => node("Project", i === 0 ? null : i - 1));
    assert.equal(layPlan(deep).width < 2 * BOX_WIDTH, true);
    const wide = Array.from({ length: 3000 }, (_, i) => node("Union", i === 0 ? null : Math.floor((i - 1) / 3)));
    const { boxes } = layPlan(wide);
    assert.equal(new Set(boxes.map(({ x, y }) => `${x} ${y}`)).size, boxes.length);
    assert.deepEqual(layPlan([]).boxes, []);
});
