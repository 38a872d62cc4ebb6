import { test } from "node:test";
import assert from "node:assert/strict";
import { DEFAULT_STATE, readState, writeState, type State } from "../src/state.js";
import { formatCount, formatShare, formatValue } from "../src/numbers.js";
import { changeColor, inkOn, packageOf, toneColor } from "../src/colors.js";
import { shortName } from "../src/flame_view.js";
import { foldedText, svgText } from "../src/exports.js";
import { arranged, forward, namesOf, profileOf } from "./model.js";

test("a state survives its address", () => {
    const state: State = {
        ...DEFAULT_STATE, tab: "sandwich", icicle: true, readable: false, search: "a&b=#;é", keep: "^x$", hidden: ["m n", "p"],
        removed: [{ path: "0123456789abcdef", name: "a b", reversed: true }], only: [{ key: "thread", value: "t:1" }, { key: "state", value: "" }],
        time: [3, 9], zoom: "fedcba9876543210", method: "x", width: "after", normalize: false, order: "width", color: "label:thread",
    };
    assert.deepEqual(readState(`#${writeState(state, DEFAULT_STATE)}`, DEFAULT_STATE), state);
    assert.equal(writeState(DEFAULT_STATE, DEFAULT_STATE), "");
});

test("a state can be taken back to what differs from the page's own", () => {
    const base = readState("icicle=1&order=width", DEFAULT_STATE);
    const state = { ...base, icicle: false };
    assert.equal(writeState(state, base), "icicle=0");
    assert.deepEqual(readState("icicle=0", base), state);
});

test("a damaged address is ignored", () => {
    assert.deepEqual(readState("#tab=x&order=&width=7&time=a-b&remove=zz&only=nocolon&%E0%A4%A", DEFAULT_STATE), DEFAULT_STATE);
});

test("numbers read well", () => {
    assert.equal(formatValue(1.5e9, "nanoseconds"), "1.50 s");
    assert.equal(formatValue(90e9, "nanoseconds"), "1.50 min");
    assert.equal(formatValue(0, "nanoseconds"), "0 ns");
    assert.equal(formatValue(3 * 2 ** 20, "bytes"), "3.00 MiB");
    assert.equal(formatCount(1234567), "1,234,567");
    assert.equal(formatCount(12.345), "12.35");
    assert.equal(formatShare(1, 3), "33.33 %");
    assert.equal(formatShare(1, 1e6), "< 0.01 %");
    assert.equal(formatShare(5, 0), "0 %");
});

test("packages of Java, Scala, C++, Python and others", () => {
    assert.equal(packageOf("org/apache/spark/rdd/RDD.map", ""), "org.apache.spark.rdd");
    assert.equal(packageOf("org/apache/hadoop/fs/local/File.open", ""), "org.apache.hadoop");
    assert.equal(packageOf("java.util.HashMap.put", ""), "java.util");
    assert.equal(packageOf("java/lang/Thread.run", ""), "java.lang");
    assert.equal(packageOf("java/util/regex/Matcher.<init>", ""), "java.util.regex");
    assert.equal(packageOf("G1CollectedHeap::collect(int)", ""), "G1CollectedHeap");
    assert.equal(packageOf("process", "/opt/spark/python/pyspark/worker.py"), "pyspark");
    assert.equal(packageOf("write", ""), "");
});

test("letters can be read on every colour", () => {
    const channel = (part: number): number => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    const luminance = (color: string): number => [1, 3, 5].reduce((sum, at, i) =>
        sum + [0.2126, 0.7152, 0.0722][i]! * channel(parseInt(color.slice(at, at + 2), 16) / 255), 0);
    for (const dark of [false, true]) {
        const colors = Array.from({ length: 720 }, (_, i) => toneColor({ hue: i / 2, saturation: 72, shift: (i % 17) - 8 }, dark));
        for (let change = -1; change <= 1; change += 0.1) colors.push(changeColor(change, dark));
        for (const color of colors) {
            const [one, other] = [luminance(color), luminance(inkOn(color))].sort((a, b) => b - a);
            assert.ok((one! + 0.05) / (other! + 0.05) >= 4.5, `${color} ${inkOn(color)}`);
        }
    }
});

test("short names keep class and method", () => {
    assert.equal(shortName("org/apache/spark/rdd/RDD.map"), "RDD.map");
    assert.equal(shortName("org/apache/spark/rdd/RDD lambda.apply"), "RDD lambda.apply");
    assert.equal(shortName("org/example/Job$$Lambda$2872/0x00007f0b84dd1c88.apply"), "Job$$Lambda$2872/0x00007f0b84dd1c88.apply");
    assert.equal(shortName("App$$Lambda$75.0x00007ff44c0c4208.call"), "App$$Lambda$75.0x00007ff44c0c4208.call");
    assert.equal(shortName("org.example.App$$Lambda$75.0x00007ff44c0c4208.call"), "App$$Lambda$75.0x00007ff44c0c4208.call");
    assert.equal(shortName("java.util.HashMap.put"), "HashMap.put");
    assert.equal(shortName("std::vector<int>::push_back(a.b.c)"), "std::vector<int>::push_back(a.b.c)");
    assert.equal(shortName("main (/opt/app/job.py:12)"), "main (/opt/app/job.py:12)");
});

test("folded text and SVG hold what is shown, escaped", () => {
    const profile = profileOf("m;a<b>&\"c 1\nm;d 2");
    const names = namesOf(profile);
    const tree = arranged(forward(profile, names).tree, names);
    const text = (node: number): string => (node === 0 ? "all" : names.text(tree.key[node]!));
    assert.equal(foldedText(tree, 0, 1, text), "m;a<b>&\"c 1\nm;d 2\n");
    const svg = svgText({ tree, zoom: 0, icicle: true, title: "<t>", dark: false, width: 1000, color: () => "#123456", text, short: (t) => t, details: text });
    assert.equal(svg.match(/<rect /g)!.length, 5);
    assert.ok(svg.includes("a&lt;b&gt;&amp;&quot;c") && svg.includes("&lt;t&gt;"), svg);
});
