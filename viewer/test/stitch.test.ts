import { test } from "node:test";
import assert from "node:assert/strict";
import { decodeProfile, type Profile } from "../src/profile.js";
import { comparisonOf } from "../src/profile_parts.js";
import { stitched } from "../src/stitch.js";
import { encodeProfile, type TestRow } from "./encode.js";

const RUNNER = "org/apache/spark/api/python/PythonRunner$$anon$3.read";
const WAIT = `run;${RUNNER};java/io/DataInputStream.readInt`;
const META = { events: ["cpu", "wall"].map((name) => ({ name, used: true, count_scale: 1 })), labels: ["task", "state"],
               time: { start_ms: 0, tick_ns: 1e6, ticks: 1000 } };

/** Frames whose name ends in ".py" are Python's. */
function row(event: "cpu" | "wall", path: string, task: string, state: string, count: number, tick = 0): TestRow {
    const stack = path.split(";").map((name) => `${name}||||${name.endsWith(".py") ? 8 : 0}`);
    return { stack, event: event === "cpu" ? 0 : 1, labels: { task, state }, count, tick };
}

/** Samples of an event by path. */
function counts(profile: Profile, event: "cpu" | "wall"): Record<string, number> {
    const found: Record<string, number> = {};
    const { nodes, rows, frames, strings } = profile;
    for (let i = 0; i < rows.count; i++) {
        if (rows.event[i] !== (event === "cpu" ? 0 : 1)) continue;
        const path: string[] = [];
        for (let node = rows.node[i]!; node > 0; node = nodes.parent[node]!) path.unshift(strings.text(frames.name[nodes.frame[node]!]!));
        found[path.join(";")] = (found[path.join(";")] ?? 0) + rows.counts[i]!;
    }
    return found;
}

const joined = (rows: TestRow[]): Profile | null => stitched(decodeProfile(encodeProfile(META, rows)));

test("waits become what the worker did", () => {
    const profile = joined([
        row("wall", WAIT, "7", "sleeping", 30), row("wall", `run;${RUNNER};decode`, "7", "sleeping", 5), row("wall", WAIT, "7", "runnable", 2),
        row("wall", "main.py;work.py", "7", "runnable", 40), row("wall", "main.py;pack.py", "7", "runnable", 20), row("wall", "main.py;other.py", "8", "runnable", 9),
    ])!;
    assert.deepEqual(counts(profile, "wall"), {
        [`run;${RUNNER};main.py;work.py`]: 20, [`run;${RUNNER};main.py;pack.py`]: 10, [`run;${RUNNER};decode`]: 5, [WAIT]: 2, "main.py;other.py": 9,
    });
    assert.ok(profile.nodes.parent.every((parent, node) => node === 0 || parent < node));
});

test("the order of times decides which wait becomes what", () => {
    const profile = joined([
        row("wall", `late;${WAIT}`, "7", "sleeping", 10, 500), row("wall", `early;${WAIT}`, "7", "sleeping", 10, 100),
        row("wall", "main.py;second.py", "7", "runnable", 10, 520), row("wall", "main.py;first.py", "7", "runnable", 10, 90),
    ])!;
    assert.deepEqual(counts(profile, "wall"), { [`late;run;${RUNNER};main.py;second.py`]: 10, [`early;run;${RUNNER};main.py;first.py`]: 10 });
});

test("processor time of Python comes below the boundary", () => {
    const profile = joined([
        row("wall", WAIT, "7", "sleeping", 3), row("wall", `run;b;${RUNNER};java/io/DataInputStream.readInt`, "7", "sleeping", 1),
        row("cpu", "run;compute", "7", "", 11), row("cpu", "main.py;work.py", "7", "", 40), row("cpu", `run;${RUNNER};decode`, "8", "", 6),
        row("cpu", "main.py;work.py", "8", "", 5), row("cpu", "main.py;work.py", "9", "", 4),
    ])!;
    assert.deepEqual(counts(profile, "cpu"), {
        "run;compute": 11, [`run;${RUNNER};main.py;work.py`]: 35, [`run;b;${RUNNER};main.py;work.py`]: 10, [`run;${RUNNER};decode`]: 6, "main.py;work.py": 4,
    });
    assert.deepEqual(Object.values(counts(profile, "wall")), [3, 1]);
});

test("without Java, Python or tasks nothing is joined", () => {
    assert.equal(joined([row("cpu", "main.py;work.py", "7", "", 4)]), null);
    assert.equal(joined([row("cpu", WAIT, "7", "", 4)]), null);
    assert.equal(joined([row("wall", WAIT, "7", "sleeping", 4), row("wall", "main.py", "8", "", 4)]), null);
    assert.equal(joined([row("wall", "run;org/apache/spark/api/python/PythonWorkerFactory.create", "7", "sleeping", 4), row("wall", "main.py", "7", "", 4)]), null);
});

test("a comparison may count a sample on both sides", () => {
    const profile = decodeProfile(encodeProfile(META, [row("cpu", "a", "1", "", 2, 0), row("cpu", "b", "2", "", 3, 5), row("cpu", "c", "3", "", 4, 9)]));
    const { rows, meta } = comparisonOf(profile, (at) => profile.rows.tick[at]! <= 6, (at) => profile.rows.tick[at]! >= 6, ["early", "late"]);
    assert.deepEqual([...rows.side], [0, 0, 1, 1]);
    assert.deepEqual([...rows.counts], [2, 3, 3, 4]);
    assert.deepEqual(meta.sides, ["early", "late"]);
});
