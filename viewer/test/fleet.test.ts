import { test } from "node:test";
import assert from "node:assert/strict";
import { dailyShares, dayNumbers, type FleetDay, hours, money, share, trendPoints, weight } from "../src/fleet_model.js";

const day = (text: string): FleetDay => ({ day: text, cpu_ns: 0, wall_ns: 0, alloc_bytes: 0 });

test("hours and money are written for people", () => {
    assert.deepEqual([0, 1e9, 1.8e11, 3.6e12, 44.424e15].map(hours), ["0 ms", "1.0 s", "3.0 min", "1.00 h", "12,340 h"]);
    assert.deepEqual([undefined, 0, 1234.567].map(money), ["–", "0.00", "1,234.57"]);
    assert.equal(weight(2 ** 20, "alloc"), "1.0 MiB");
    assert.equal(weight(7.2e12, "wall"), "2.00 h");
    assert.equal(share(1, 8), "12.5 %");
    assert.equal(share(1, 0), "–");
});

test("a trend has gaps where days have nothing, and days their distance", () => {
    assert.deepEqual(dayNumbers([day("2026-02-27"), day("2026-03-01"), day("2026-03-03")]), [0, 2, 4]);
    assert.deepEqual(dailyShares([1, 0, 3], [2, 0, 4]), [0.5, NaN, 0.75]);
    assert.deepEqual(trendPoints([1, NaN, 2, 0], [0, 1, 2, 4], 100, 20), [[[0, 10]], [[50, 0], [100, 20]]]);
    assert.deepEqual(trendPoints([5], [0], 100, 20), [[[50, 0]]]);
    assert.deepEqual(trendPoints([0, 0], [0, 1], 100, 20), [[[0, 20], [100, 20]]]);
    assert.deepEqual(trendPoints([], [], 100, 20), []);
});
