// What stands behind the # of the console's address, and what it asks for.
import { test } from "node:test";
import assert from "node:assert/strict";
import { EMPTY_STATE, exactly, panelAddress, pictureAddress, rangeBefore, readConsoleState, writeConsoleState } from "../src/console_state.js";
import { axisEnd, pieces } from "../src/console_lines.js";
import { amount, money } from "../src/console_methods.js";
import { change, growth } from "../src/console_regressions.js";

test("a state is read as it was written", () => {
    const state = {
        ...EMPTY_STATE, group: "etl", application: "app-1", attempt: "2", executor: "driver", from: 1000, to: 2000, labels: ["a=b&c=<d>#é", "e=f"],
        stage: "3", by: "stage", view: "compare" as const, against: "app-0", againstAttempt: "1", againstFrom: 0, againstTo: 1000, normalize: true,
        include: "a|b", search: "x y", method: "com/A.<init>", byTotal: true, price: "0.05",
    };
    assert.deepEqual(readConsoleState(`#${writeConsoleState(state)}`), state);
    assert.equal(writeConsoleState(EMPTY_STATE), "");
});

test("damaged entries are skipped", () => {
    const read = readConsoleState("#group=etl&from=-1&to=1e9&label=nothing&label==x&view=<script>&against_from=x&from=abc&normalize=yes&byTotal=2&price=cheap&%E0%A4%A");
    assert.deepEqual(read, { ...EMPTY_STATE, group: "etl" });
});

test("no name becomes a parameter of its own", () => {
    const state = { ...EMPTY_STATE, group: "a&group=b", application: "x#y", labels: ["k=v&format=csv"], by: "stage&title=t" };
    const query = new URL(pictureAddress(state, "pprof"), "http://localhost").searchParams;
    assert.deepEqual([...query], [["group", "a&group=b"], ["application", "x#y"], ["attempt", ""], ["label", "k=v&format=csv"],
                                  ["by", "stage&title=t"], ["format", "pprof"]]);
});

test("each view has its address", () => {
    const state = { ...EMPTY_STATE, group: "etl", application: "app-2", from: 5000, to: 8000 };
    assert.equal(pictureAddress(state, "html"), "/v1/profile?group=etl&application=app-2&attempt=&from=5000&to=8000");
    assert.equal(pictureAddress({ ...state, view: "report" }, "json"), "/v1/report?group=etl&application=app-2&attempt=&format=json");
    assert.ok(/^\/v1\/difference\?.*against_application=app-1&normalize=1$/.test(pictureAddress({ ...state, view: "compare", against: "app-1", normalize: true }, "html")));
    assert.deepEqual(rangeBefore(state), [2000, 5000]);
    assert.equal(rangeBefore({ ...state, to: null }), null);
});

test("each panel has its address", () => {
    const state = { ...EMPTY_STATE, group: "etl", stage: "3", search: "a b", byTotal: true };
    assert.equal(panelAddress(state), null);
    assert.equal(panelAddress({ ...state, view: "methods" }), "/v1/methods?group=etl&stage=3&limit=100&search=a+b&order=total");
    assert.equal(panelAddress({ ...state, view: "methods", method: "x&y" }), "/v1/method?group=etl&stage=3&method=x%26y");
    assert.equal(panelAddress({ ...state, view: "heap", labels: ["a=b"] }), "/v1/heap?group=etl&label=a%3Db");
    assert.equal(panelAddress({ ...state, view: "regressions", executor: "1" }), "/v1/regressions?group=etl");
    assert.equal(panelAddress({ ...state, view: "regressions", application: "a" }), "/v1/regression?group=etl&application=a&attempt=");
});

test("a method's name is matched as it is", () => {
    for (const name of ["a/B$$anon$1.c(x)[y]{2}|^+*?\\", "plain"]) assert.ok(new RegExp(exactly(name)).test(name));
    assert.ok(!new RegExp(exactly("a.b")).test("axb"));
});

test("axes end at round numbers, and curves where nothing was measured", () => {
    assert.deepEqual([axisEnd(7, "count"), axisEnd(0.3, "count"), axisEnd(3 * 2 ** 20, "bytes"), axisEnd(0, "bytes"), axisEnd(2 ** 30, "bytes")], [10, 0.5, 3 * 2 ** 20 > 2 ** 21 ? 2 ** 22 : 0, 1, 2 ** 30]);
    assert.deepEqual(pieces([[0, 1], [10, 2], [50, 3]], 10), [[[0, 1], [10, 2]], [[50, 3]]]);
});

test("growth and money as people say it", () => {
    assert.deepEqual([growth(30, 10), growth(12, 10), growth(8, 10), growth(5, 0)], ["3.00 times as much", "20 % more", "20 % less", "new"]);
    assert.deepEqual([change(30, 10), change(12, 10), change(8, 10), change(0, 0)], ["× 3.00", "+20 %", "−20 %", "–"]);
    const weights = { event: "cpu", unit: "samples" as const, ns_per_unit: 10_000_000, total: 0 };
    assert.deepEqual([money(360_000, weights, 0.05), money(36, weights, 0.05), money(0, weights, 1)], ["0.05", "0.0000050", "0.00"]);
    assert.deepEqual([amount(100, weights), amount(2048, { ...weights, unit: "bytes", ns_per_unit: 0 })], ["1.00 s", "2.00 KiB"]);
});
