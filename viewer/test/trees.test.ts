import { test } from "node:test";
import assert from "node:assert/strict";
import { buildCallees, buildCallers, buildReversed } from "../src/build.js";
import { searchTree, sumMethods } from "../src/methods.js";
import { besides, boxAt, childrenOf } from "../src/tree.js";
import { toPattern } from "../src/names.js";
import { arranged, boxes, forward, namesOf, profileOf } from "./model.js";

const whole = { minimumShare: 0, focus: [], grouped: false };

test("a forward tree merges by name and orders by name", () => {
    const profile = profileOf("main;b;c 3\nmain;a 1\nmain;b 2\nmain;b$x 4");
    const names = namesOf(profile);
    const tree = arranged(forward(profile, names).tree, names);
    assert.deepEqual(boxes(tree, names), ["main 10 0", "main;a 1 1", "main;b 5 2", "main;b;c 3 3", "main;b$x 4 4"]);
    assert.deepEqual([...tree.x], [0, 0, 0, 1, 1, 6]);
    assert.deepEqual([...tree.end], [6, 6, 3, 5, 5, 6]);
    assert.deepEqual([...childrenOf(tree, 1)], [2, 3, 5]);
    assert.deepEqual([besides(tree, 3, -1), besides(tree, 3, 1), besides(tree, 2, -1), besides(tree, 4, 1)], [2, 5, 2, 4]);
});

test("order by width puts the widest first", () => {
    const profile = profileOf("m;a 1\nm;b 5\nm;c 3");
    const names = namesOf(profile);
    const tree = arranged(forward(profile, names).tree, names, "width");
    assert.deepEqual(boxes(tree, names).slice(1), ["m;b 5 5", "m;c 3 3", "m;a 1 1"]);
});

test("frames that differ only in line or kind are one box", () => {
    const profile = profileOf("m;f||F.java|10|1;x 1\nm;f||F.java|20|3;x 2");
    const names = namesOf(profile);
    assert.deepEqual(boxes(arranged(forward(profile, names).tree, names), names), ["m 3 0", "m;f 3 0", "m;f;x 3 3"]);
});

test("hiding a method gives its time to its caller", () => {
    const profile = profileOf("m;h;a 1\nm;h 2\nm;a 4");
    const names = namesOf(profile);
    const hidden = names.matching(/^h$/u);
    assert.deepEqual(boxes(arranged(forward(profile, names, { hidden }).tree, names), names), ["m 7 2", "m;a 5 5"]);
});

test("direct recursion folds", () => {
    const profile = profileOf("m;f;f;f;g 1\nm;f;g 2\nm;f;h;f 4");
    const names = namesOf(profile);
    assert.deepEqual(boxes(arranged(forward(profile, names, { fold: true }).tree, names), names),
                     ["m 7 0", "m;f 7 0", "m;f;g 3 3", "m;f;h 4 0", "m;f;h;f 4 4"]);
});

test("reverse merges from the leaves", () => {
    const profile = profileOf("m;a;x 1\nm;b;x 2\nm;b 4");
    const names = namesOf(profile);
    const reversed = buildReversed(forward(profile, names).tree, [1], whole);
    assert.deepEqual(boxes(arranged(reversed, names), names),
                     ["b 4 0", "b;m 4 4", "x 3 0", "x;a 1 0", "x;a;m 1 1", "x;b 2 0", "x;b;m 2 2"]);
});

test("reverse cuts what is too small, and opens it when zoomed", () => {
    const profile = profileOf("m;a;x 1\nm;b;y 999");
    const names = namesOf(profile);
    const tree = forward(profile, names).tree;
    const cut = arranged(buildReversed(tree, [1], { ...whole, minimumShare: 0.01 }), names);
    assert.deepEqual(boxes(cut, names), ["x 1 1", "y 999 0", "y;b 999 0", "y;b;m 999 999"]);
    assert.deepEqual([...cut.cut], [0, 1, 0, 0, 0]);
    const opened = arranged(buildReversed(tree, [1], { ...whole, minimumShare: 0.01, focus: [names.find("x")] }), names);
    assert.deepEqual(boxes(opened, names), ["x 1 0", "x;a 1 0", "x;a;m 1 1", "y 999 0", "y;b 999 0", "y;b;m 999 999"]);
});

test("callers and callees of a recursive method count its time once", () => {
    const profile = profileOf("m;f;g;f;x 1\nm;a;f 2\nm 8");
    const names = namesOf(profile);
    const tree = forward(profile, names).tree;
    const f = names.find("f");
    assert.deepEqual(boxes(arranged(buildCallees(tree, f), names), names),
                     ["f 3 2", "f;g 1 0", "f;g;f 1 0", "f;g;f;x 1 1"]);
    assert.deepEqual(boxes(arranged(buildCallers(tree, f, [1], whole), names), names), ["f 3 0", "f;a 2 0", "f;a;m 2 2", "f;m 1 1"]);
});

test("sums per method count recursion once", () => {
    const profile = profileOf("m;f;g;f 3\nm;f 2\nn;f 1");
    const names = namesOf(profile);
    const sums = sumMethods(forward(profile, names).tree, names.count);
    const of = (name: string): number[] => [sums.self[0]![names.find(name)]!, sums.total[0]![names.find(name)]!];
    assert.deepEqual([of("m"), of("n"), of("f"), of("g")], [[0, 5], [0, 1], [6, 6], [0, 3]]);
});

test("search covers nested matches once, and only within the zoomed box", () => {
    const profile = profileOf("m;f;g;f 3\nm;x 2\nn;f 5");
    const names = namesOf(profile);
    const tree = arranged(forward(profile, names).tree, names);
    const matched = names.matching(toPattern("^F$", true)!);
    assert.deepEqual(searchTree(tree, matched, 0).covered, [8]);
    assert.equal(searchTree(tree, matched, 0).nodes.length, 3);
    assert.deepEqual(searchTree(tree, matched, 1).covered, [3]);
    assert.deepEqual(searchTree(tree, names.matching(toPattern("^F$", false)!), 0).covered, [0]);
});

test("text that is no regular expression is searched literally", () => {
    assert.ok(toPattern("a(", false)!.test("xa(y"));
    assert.equal(toPattern("", false), null);
});

test("a stack of 100,000 frames builds, reverses and sums without recursion", () => {
    const deep = Array.from({ length: 100_000 }, (_, i) => `f${i % 1000}`).join(";");
    const profile = profileOf(`${deep} 1\nm 2`);
    const names = namesOf(profile);
    const loose = forward(profile, names).tree;
    const tree = arranged(loose, names);
    assert.equal(tree.depth, 100_001);
    assert.equal(tree.level[100_000], 100_000);
    assert.equal(sumMethods(loose, names.count).total[0]![names.find("f5")], 1);
    assert.equal(arranged(buildReversed(loose, [1], whole), names).depth, 100_001);
});

test("boxes are found by place", () => {
    const profile = profileOf("m;a 1\nm;b 2");
    const names = namesOf(profile);
    const tree = arranged(forward(profile, names).tree, names);
    const at = (level: number, x: number): string => {
        const box = boxAt(tree, level, x);
        return box < 0 ? "-" : names.text(tree.key[box]!);
    };
    assert.deepEqual([at(1, 0), at(2, 0.5), at(2, 1), at(2, 2.9), at(3, 0)], ["m", "a", "b", "b", "-"]);
});

test("many siblings sort too", () => {
    const lines = Array.from({ length: 100 }, (_, i) => `m;f${String((i * 37) % 100).padStart(2, "0")} ${((i * 61) % 100) + 1}`);
    const profile = profileOf(lines.join("\n"));
    const names = namesOf(profile);
    const loose = forward(profile, names).tree;
    const order = (by: "name" | "width"): string[] => boxes(arranged(loose, names, by), names).slice(1);
    const byName = order("name").map((line) => line.split(" ")[0]!);
    assert.deepEqual(byName, [...byName].sort());
    const widths = order("width").map((line) => Number(line.split(" ")[1]));
    assert.deepEqual(widths, [...widths].sort((a, b) => b - a));
});

test("a comparison keeps both sides", () => {
    const profile = profileOf("m;a 1 0\nm;b 2 6", { sides: ["before", "after"] });
    const names = namesOf(profile);
    const loose = forward(profile, names).tree;
    assert.deepEqual(boxes(arranged(loose, names), names), ["m 3/6 0/0", "m;a 1/0 1/0", "m;b 2/6 2/6"]);
    assert.deepEqual([...arranged(loose, names, "name", [1, 0.5]).weight], [6, 6, 1, 5]);
});
