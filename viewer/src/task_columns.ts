// The columns of tasks in the data of a report; docs/PAGE_DATA.md describes the bytes.
import type { Report, TaskColumns } from "./report_model.js";

/** One zigzag varint per task, each the distance from the one before. */
function readColumn(bytes: Uint8Array, start: number, out: Float64Array | Int32Array): number {
    let at = start, last = 0;
    for (let i = 0; i < out.length; i++) {
        let byte = bytes[at++]!, low = byte & 127;
        for (let shift = 7; byte > 127 && shift < 28; shift += 7) {
            byte = bytes[at++]!;
            low |= (byte & 127) << shift;
        }
        let half = low >>> 1;
        // Most numbers are small, and bits of small ones are fast.
        for (let scale = 2 ** 27; byte > 127; scale *= 128) {
            byte = bytes[at++]!;
            half += (byte & 127) * scale;
        }
        last += (low & 1) === 0 ? half : -half - 1;
        out[i] = last;
    }
    if (at > bytes.length) throw new Error("the tasks end too early");
    return at;
}

const SMALL = new Set(["stage", "executor", "index", "attempt", "status"]);

/** The report, of JSON, a zero byte, and the columns of its tasks. */
export function decodeReport(bytes: Uint8Array): Report {
    const end = bytes.indexOf(0);
    if (end < 0) throw new Error("the data ends too early");
    const found = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as Omit<Report, "tasks"> & { tasks: { count: number; columns: string[] } };
    const { count, columns } = found.tasks;
    if (count * columns.length > bytes.length - end - 1) throw new Error("the tasks end too early");
    const tasks: Record<string, Float64Array | Int32Array> = {};
    let at = end + 1;
    for (const name of columns) at = readColumn(bytes, at, tasks[name] = SMALL.has(name) ? new Int32Array(count) : new Float64Array(count));
    return { ...found, tasks: tasks as unknown as TaskColumns };
}

/** Numbers of tasks by the moments of their launch; those without one are left out. */
export function byLaunch(tasks: TaskColumns): Uint32Array {
    const { launch_ms: launch } = tasks;
    const places = new Uint32Array(launch.length);
    let count = 0, first = Infinity, last = -Infinity, isSorted = true, before = -Infinity;
    for (let i = 0; i < launch.length; i++) {
        const ms = launch[i]!;
        if (!(ms >= 0)) continue;
        places[count++] = i;
        isSorted &&= ms >= before;
        before = ms;
        first = Math.min(first, ms);
        last = Math.max(last, ms);
    }
    const chosen = places.subarray(0, count);
    if (isSorted) return chosen;
    // Numbers sort many times faster without a function that compares: moment and task in one.
    const room = 2 ** Math.ceil(Math.log2(launch.length + 1));
    if ((last - first + 1) * room > Number.MAX_SAFE_INTEGER) return chosen.sort((a, b) => launch[a]! - launch[b]!);
    const keys = new Float64Array(count);
    for (let i = 0; i < count; i++) keys[i] = (launch[chosen[i]!]! - first) * room + chosen[i]!;
    keys.sort();
    for (let i = 0; i < count; i++) chosen[i] = keys[i]! - Math.floor(keys[i]! / room) * room;
    return chosen;
}
