// What stands behind the # of the console's address, and what it asks for.
import { test } from "node:test";
import assert from "node:assert/strict";
import { EMPTY_STATE, pictureAddress, rangeBefore, readConsoleState, writeConsoleState } from "../src/console_state.js";

test("a state is read as it was written", () => {
    const state = {
        ...EMPTY_STATE, group: "etl", application: "app-1", attempt: "2", executor: "driver", from: 1000, to: 2000, labels: ["a=b&c=<d>#é", "e=f"],
        stage: "3", by: "stage", view: "compare" as const, against: "app-0", againstAttempt: "1", againstFrom: 0, againstTo: 1000, normalize: true,
    };
    assert.deepEqual(readConsoleState(`#${writeConsoleState(state)}`), state);
    assert.equal(writeConsoleState(EMPTY_STATE), "");
});

test("damaged entries are skipped", () => {
    const read = readConsoleState("#group=etl&from=-1&to=1e9&label=nothing&label==x&view=<script>&against_from=x&from=abc&normalize=yes&%E0%A4%A");
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
