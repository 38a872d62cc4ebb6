import { test } from "node:test";
import assert from "node:assert/strict";
import { differenceText, partName, verdict, type HostComparison } from "../src/hosts.js";

const part = { sampled: 6, named: true, similarity: [[1], [0.5, 1]], differences: [] };
const comparison: HostComparison = {
    names: ["h1", "h2"], needed_hosts: 6, needed_samples: 1000,
    parts: [part, { ...part, stage: "4", application: "app-1" }],
};

test("parts of a comparison of hosts have names, with the application only where there are several", () => {
    assert.deepEqual(comparison.parts.map((one) => partName(comparison, one)), ["All samples", "Stage 4"]);
    const several = { ...comparison, parts: [...comparison.parts, { ...part, stage: "4", application: "app-2" }] };
    assert.deepEqual(several.parts.map((one) => partName(several, one)), ["All samples", "Stage 4 of app-1", "Stage 4 of app-2"]);
});

test("a host is named only where there are enough", () => {
    assert.equal(verdict(comparison, part), "No host differs significantly from the others.");
    assert.equal(verdict(comparison, { ...part, named: false, sampled: 1 }), "No host is named: this needs 6 hosts with 1000 samples each; there is 1.");
    const difference = { function: "f", self: false, share: 0.3, others: 0.02 };
    assert.equal(differenceText(difference), "between 2.0 % and 30.0 % of a host's time");
    assert.equal(differenceText({ ...difference, host: 1 }), "30.0 % of its time, 2.0 % of the other hosts'");
    assert.equal(differenceText({ ...difference, host: 1, self: true }), "itself 30.0 % of its time, 2.0 % of the other hosts'");
    assert.equal(verdict(comparison, { ...part, differences: [{ ...difference, host: 1 }] }), "");
});
