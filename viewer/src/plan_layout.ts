// Where the operators of a SQL plan stand in its picture, and how much each of them counts. Data flows down: sources
// are above, the result is at the bottom. Each operator stands below its first input, so that chains are straight.
import type { Operator, OperatorMetric } from "./report_model.js";

export const BOX_WIDTH = 216, BOX_HEIGHT = 62, GAP_X = 34, GAP_Y = 38, FRAME = 9;

/** What only holds others together is not drawn. */
const PASSING = /^(InputAdapter|AdaptiveSparkPlan|[A-Za-z]*QueryStage)$/;
const GENERATED = /^WholeStageCodegen/;
const ROWS = /^(number of output rows|records read|shuffle records written)$/;

/** Operators whose code Spark generates as one. */
export interface Cluster { operator: number; x: number; y: number; width: number; height: number }

export interface PlanBox {
    /** Number in the query's list. */
    operator: number;
    /** Boxes that its rows come from, and the one that they go to (-1: none). */
    inputs: number[];
    output: number;
    /** Index of a cluster, or -1. */
    cluster: number;
    x: number; y: number;
    /** Rows that leave it, as far as known here or before. */
    rows: number | null;
}

export interface PlanLayout { boxes: PlanBox[]; clusters: Cluster[]; width: number; height: number }

export function rowsOfOperator(metrics: OperatorMetric[]): number | null {
    return metrics.find(({ name, value }) => ROWS.test(name) && value !== null)?.value ?? null;
}

/** What Spark measured, over all tasks, in milliseconds. */
export function timeOfOperator(metrics: OperatorMetric[]): number {
    return metrics.reduce((sum, { unit, value }) => sum + (unit === "ms" ? value ?? 0 : unit === "ns" ? (value ?? 0) / 1e6 : 0), 0);
}

export const isCluster = (operator: Operator): boolean => GENERATED.test(operator.name ?? "");

/** Boxes from the result on, each before its inputs. */
function makeBoxes(operators: Operator[]): { boxes: PlanBox[]; clusters: Cluster[] } {
    const boxes: PlanBox[] = [], clusters: Cluster[] = [];
    /** Of each operator: the box that takes its rows, and the cluster that it would be in. */
    const below = new Int32Array(operators.length).fill(-1), inside = new Int32Array(operators.length).fill(-1);
    operators.forEach((operator, i) => {
        const { parent } = operator, name = operator.name ?? "";
        const output = parent === null ? -1 : below[parent]!, cluster = parent === null ? -1 : inside[parent]!;
        if (isCluster(operator)) {
            below[i] = output;
            inside[i] = clusters.push({ operator: i, x: 0, y: 0, width: 0, height: 0 }) - 1;
        } else if (PASSING.test(name)) {
            below[i] = output;
        } else {
            below[i] = boxes.push({ operator: i, inputs: [], output, cluster, x: 0, y: 0, rows: rowsOfOperator(operator.metrics) }) - 1;
            inside[i] = cluster;
            if (output >= 0) boxes[output]!.inputs.push(below[i]!);
        }
    });
    // A cluster is one column if what belongs to it comes first.
    for (const box of boxes) box.inputs.sort((a, b) => Number(boxes[b]!.cluster === box.cluster) - Number(boxes[a]!.cluster === box.cluster) || a - b);
    return { boxes, clusters };
}

/** Columns by leaves, rows by distance from the result. */
function place(boxes: PlanBox[]): { columns: number; depth: number } {
    const depth = new Int32Array(boxes.length);
    let deepest = 0, columns = 0;
    const open: { box: number; column: number }[] = [];
    boxes.forEach((box, i) => {
        if (box.output >= 0) depth[i] = depth[box.output]! + 1;
        deepest = Math.max(deepest, depth[i]!);
    });
    for (let i = boxes.length - 1; i >= 0; i--) if (boxes[i]!.output < 0) open.push({ box: i, column: -1 });
    while (open.length > 0) {
        const { box: number, column } = open.pop()!, box = boxes[number]!;
        const own = column < 0 ? columns++ : column;
        box.x = FRAME + own * (BOX_WIDTH + GAP_X);
        box.y = FRAME * 2 + (deepest - depth[number]!) * (BOX_HEIGHT + GAP_Y);
        for (let i = box.inputs.length - 1; i >= 0; i--) open.push({ box: box.inputs[i]!, column: i === 0 ? own : -1 });
    }
    return { columns, depth: deepest + 1 };
}

/** What lets all rows pass has as many as come in. */
function passRows(boxes: PlanBox[]): void {
    for (let i = boxes.length - 1; i >= 0; i--) {
        const box = boxes[i]!;
        if (box.rows === null && box.inputs.length === 1) box.rows = boxes[box.inputs[0]!]!.rows;
    }
}

function frameClusters(boxes: PlanBox[], clusters: Cluster[]): Cluster[] {
    clusters.forEach((cluster, i) => {
        const own = boxes.filter((box) => box.cluster === i);
        if (own.length === 0) return;
        const left = Math.min(...own.map(({ x }) => x)), top = Math.min(...own.map(({ y }) => y));
        cluster.x = left - FRAME;
        cluster.y = top - FRAME * 2;
        cluster.width = Math.max(...own.map(({ x }) => x)) + BOX_WIDTH + FRAME - cluster.x;
        cluster.height = Math.max(...own.map(({ y }) => y)) + BOX_HEIGHT + FRAME - cluster.y;
    });
    return clusters;
}

export function layPlan(operators: Operator[]): PlanLayout {
    const { boxes, clusters } = makeBoxes(operators);
    const { columns, depth } = place(boxes);
    passRows(boxes);
    return { boxes, clusters: frameClusters(boxes, clusters), width: columns * (BOX_WIDTH + GAP_X) - GAP_X + 2 * FRAME,
             height: depth * (BOX_HEIGHT + GAP_Y) - GAP_Y + 3 * FRAME };
}

/** Of 0 to 1 how much of the query each operator of the list is: of its samples, else of the time that Spark measured;
 * of generated code, what its operators did not measure themselves counts for the whole. */
export function sharesOf(operators: Operator[], layout: PlanLayout, samples: Map<number, number>, whole: number): Float64Array {
    const shares = new Float64Array(operators.length);
    if (samples.size > 0) {
        for (const [operator, count] of samples) shares[operator] = count / Math.max(whole, 1);
        return shares;
    }
    for (const { operator } of layout.boxes) shares[operator] = timeOfOperator(operators[operator]!.metrics);
    layout.clusters.forEach(({ operator }, i) => {
        const inside = layout.boxes.reduce((sum, box) => sum + (box.cluster === i ? shares[box.operator]! : 0), 0);
        shares[operator] = Math.max(timeOfOperator(operators[operator]!.metrics) - inside, 0);
    });
    const sum = shares.reduce((all, one) => all + one, 0);
    return sum > 0 ? shares.map((one) => one / sum) : shares;
}

/** 1 to 10 pixels: by the logarithm of the rows. */
export function edgeWidth(rows: number | null): number {
    return rows === null || rows < 1 ? 1 : Math.min(1 + Math.log10(rows) * 1.1, 10);
}
