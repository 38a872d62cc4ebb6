import { test } from "node:test";
import assert from "node:assert/strict";
import { byLaunch, decodeReport } from "../src/task_columns.js";
import type { TaskColumns } from "../src/report_model.js";

const COLUMNS: Record<string, number[]> = { id: [7, 8, 2], stage: [0, 0, 3], executor: [-1, 1, 0], launch_ms: [1_700_000_000_000, 1_700_000_000_001, -1], cpu_ns: [2 ** 51, -(2 ** 51), 0] };

function encoded(columns: Record<string, number[]>, count: number): Uint8Array {
    const json = JSON.stringify({ text: "a\nb", tasks: { count, columns: Object.keys(columns) } });
    const bytes = [...new TextEncoder().encode(`${json}\n\0`)];
    for (const values of Object.values(columns)) {
        let last = 0;
        for (const value of values) {
            let rest = value >= last ? (value - last) * 2 : (last - value) * 2 - 1;
            for (last = value; rest > 127; rest = Math.floor(rest / 128)) bytes.push(rest % 128 | 128);
            bytes.push(rest);
        }
    }
    return Uint8Array.from(bytes);
}

test("columns of tasks are read, also large and negative numbers", () => {
    const { tasks } = decodeReport(encoded(COLUMNS, 3));
    for (const [name, values] of Object.entries(COLUMNS)) assert.deepEqual([...tasks[name as keyof TaskColumns]], values, name);
    assert.equal(decodeReport(encoded({ id: [] }, 0)).tasks.id.length, 0);
});

test("cut columns are refused", () => {
    const whole = encoded(COLUMNS, 3);
    for (let cut = 1; cut < 20; cut++) assert.throws(() => decodeReport(whole.subarray(0, whole.length - cut)), /too early/);
    assert.throws(() => decodeReport(encoded({ id: [1] }, 2 ** 40)), /too early/);
    assert.throws(() => decodeReport(new TextEncoder().encode("{}")), /too early/);
});

test("tasks are ordered by their launch, equal ones as they were", () => {
    const launch = Array.from({ length: 5000 }, (_, i) => (i % 7 === 0 ? -1 : 1.7e12 + (i * 7919) % 1000));
    const order = (launch_ms: number[]): number[] => [...byLaunch({ launch_ms: Float64Array.from(launch_ms) } as TaskColumns)];
    const expected = (moments: number[]): number[] => [...moments.keys()].filter((i) => moments[i]! >= 0).sort((a, b) => moments[a]! - moments[b]! || a - b);
    for (const moments of [launch, launch.map((ms) => ms * 1000), [3, 1, 2], [], [-1], [1, 2, 2e15, 5]]) assert.deepEqual(order(moments), expected(moments));
});
