// Joins the Java stacks of a task with those of its Python worker, as src/model/stitch.c does: a task's thread waits
// for its worker below a frame of Spark's Python runners, the boundary. Wall clock samples that wait there are replaced
// by the worker's stacks, in the order of their times, scaled to the weight of the waits; CPU samples of the worker are
// moved below the boundary, with their weight.
import { KINDS, type Nodes, type Profile, type Rows } from "./profile.js";

const RUNNER = /^org[./]apache[./]spark[./](api|sql[./]execution)[./]python[./]/;
/** It starts workers, which do not serve a task yet. */
const FACTORY = /^org[./]apache[./]spark[./]api[./]python[./]PythonWorkerFactory/;
/** Frames between a runner and its read or write system call. */
const TRANSFER = /^(java[./](io|net|nio|util[./]concurrent[./]locks)|sun[./]nio|jdk[./]internal|org[./]apache[./]arrow[./]vector[./]ipc)[./]/;
const PYTHON = KINDS.indexOf("Python");
const NATIVE_KINDS = (["native", "C++", "kernel"] as const).map((name) => KINDS.indexOf(name));

const enum Role { wait, pythonWall, javaWall, pythonCpu, runnerCpu, none }

/** What each stack is, by its innermost node; 0 is "none". */
interface Facts {
    /** The runner's node, when nothing but reading comes after it. */
    boundary: Uint32Array;
    /** The innermost node of a runner. */
    runner: Uint32Array;
    isPython: Uint8Array;
}

function factsOf(profile: Profile): Facts | null {
    const { nodes, frames, strings } = profile;
    const isRunner = new Uint8Array(frames.count), isTransfer = new Uint8Array(frames.count);
    for (let i = 0; i < frames.count; i++) {
        const name = strings.text(frames.name[i]!);
        isRunner[i] = Number(RUNNER.test(name) && !FACTORY.test(name));
        isTransfer[i] = Number(NATIVE_KINDS.includes(frames.kind[i]!) || TRANSFER.test(name));
    }
    const boundary = new Uint32Array(nodes.count), runner = new Uint32Array(nodes.count), isPython = new Uint8Array(nodes.count);
    for (let i = 1; i < nodes.count; i++) {
        const above = nodes.parent[i]!, frame = nodes.frame[i]!;
        runner[i] = isRunner[frame] ? i : runner[above]!;
        boundary[i] = isRunner[frame] ? i : isTransfer[frame] ? boundary[above]! : 0;
        isPython[i] = above === 0 ? Number(frames.kind[frame] === PYTHON) : isPython[above]!;
    }
    return isRunner.includes(1) && isPython.includes(1) ? { boundary, runner, isPython } : null;
}

/** Nodes that grow by stacks below others; a node is there once for each caller and frame. */
class GrowingNodes {
    private readonly parents: number[] = [];
    private readonly frames: number[] = [];
    /** Callees of nodes below a runner. */
    private readonly callees = new Map<number, Map<number, number>>();

    constructor(private readonly old: Nodes, runner: Uint32Array) {
        for (let i = 1; i < old.count; i++) if (runner[old.parent[i]!]! > 0) this.calleesOf(old.parent[i]!).set(old.frame[i]!, i);
    }

    private calleesOf(node: number): Map<number, number> {
        let found = this.callees.get(node);
        if (!found) this.callees.set(node, found = new Map<number, number>());
        return found;
    }

    /** The stack `python` continued below the node `boundary`. */
    join(boundary: number, python: number): number {
        const path: number[] = [];
        for (let node = python; node > 0; node = this.old.parent[node]!) path.push(this.old.frame[node]!);
        let at = boundary;
        while (path.length > 0) {
            const frame = path.pop()!, callees = this.calleesOf(at);
            let next = callees.get(frame);
            if (next === undefined) {
                next = this.old.count + this.parents.push(at) - 1;
                this.frames.push(frame);
                callees.set(frame, next);
            }
            at = next;
        }
        return at;
    }

    finish(): Nodes {
        const { old, parents, frames } = this;
        const parent = new Uint32Array(old.count + parents.length), frame = new Uint32Array(parent.length);
        parent.set(old.parent.subarray(0, old.count));
        frame.set(old.frame.subarray(0, old.count));
        parent.set(parents, old.count);
        frame.set(frames, old.count);
        return { count: parent.length, parent, frame };
    }
}

/** The samples of one role of one task. */
interface Items { rows: number[]; weight: number }

class Stitcher {
    private readonly nodes: GrowingNodes;
    private readonly isGone: Uint8Array;
    /** Joined samples: the row that each is like, its stack and count. */
    private readonly like: number[] = [];
    private readonly node: number[] = [];
    private readonly count: number[] = [];

    constructor(private readonly profile: Profile, private readonly facts: Facts) {
        this.nodes = new GrowingNodes(profile.nodes, facts.runner);
        this.isGone = new Uint8Array(profile.rows.count);
    }

    /** Whether the samples of each label set ran when they were taken. */
    private running(): Uint8Array {
        const { sets, meta, strings } = this.profile;
        const column = sets[meta.labels.indexOf("state")];
        return Uint8Array.from(column ?? [], (text) => Number(text > 0 && strings.text(text - 1) === "runnable"));
    }

    private tasks(): Map<string, Items[]> {
        const { rows, sets, meta } = this.profile, { facts } = this;
        const task = sets[meta.labels.indexOf("task")], application = sets[meta.labels.indexOf("application")];
        const found = new Map<string, Items[]>(), runs = this.running();
        const roleOf = (row: number): Role => {
            const name = meta.events[rows.event[row] ?? 0]!.name, node = rows.node[row]!;
            if (name === "cpu") return facts.isPython[node] ? Role.pythonCpu : facts.runner[node]! > 0 ? Role.runnerCpu : Role.none;
            if (name !== "wall") return Role.none;
            if (facts.isPython[node]) return Role.pythonWall;
            return facts.boundary[node]! > 0 && !runs[rows.set[row]!] ? Role.wait : Role.javaWall;
        };
        for (let i = 0; task && i < rows.count; i++) {
            const set = rows.set[i]!, role = task[set]! > 0 ? roleOf(i) : Role.none;
            if (role === Role.none) continue;
            const key = `${rows.side[i] ?? 0} ${application?.[set] ?? 0} ${task[set]}`;
            let roles = found.get(key);
            if (!roles) found.set(key, roles = Array.from({ length: Role.none }, () => ({ rows: [], weight: 0 })));
            roles[role]!.rows.push(i);
            roles[role]!.weight += rows.counts[i]!;
        }
        return found;
    }

    /** Pairs each sample of the first sequence with the overlapping ones of the second, scaled to its length. */
    private pair(first: Items, second: Items, firstIsJava: boolean): void {
        const { counts, node } = this.profile.rows, { facts } = this;
        const scale = first.weight / second.weight;
        const boundaryOf = (row: number): number => facts.boundary[node[row]!]! || facts.runner[node[row]!]!;
        let at = 0, left = counts[second.rows[0]!]! * scale, carry = 0;
        for (const row of first.rows) {
            let wanted = counts[row]!;
            this.isGone[row] = 1;
            while (wanted > 1e-9) {
                while (left <= 1e-9 && at + 1 < second.rows.length) left = counts[second.rows[++at]!]! * scale;
                const other = second.rows[at]!;
                const taken = at + 1 === second.rows.length || left >= wanted ? wanted : left;
                wanted -= taken;
                left -= taken;
                // Below one is carried on, so that whole numbers come out whole.
                const whole = Math.floor(taken + carry + 0.5);
                carry += taken - whole;
                if (whole <= 0) continue;
                const [java, python] = firstIsJava ? [row, other] : [other, row];
                this.like.push(row);
                this.node.push(this.nodes.join(boundaryOf(java), node[python]!));
                this.count.push(whole);
            }
        }
    }

    private stitchTask(roles: Items[]): void {
        const { tick } = this.profile.rows;
        for (const { rows } of roles) rows.sort((a, b) => (tick[a] ?? 0) - (tick[b] ?? 0) || a - b);
        const waits = roles[Role.wait]!, pythonWall = roles[Role.pythonWall]!, pythonCpu = roles[Role.pythonCpu]!;
        const boundary = waits.weight > 0 ? waits : roles[Role.runnerCpu]!;
        if (pythonWall.weight > 0) {
            if (waits.weight > 0) this.pair(waits, pythonWall, true);
            // Java's thread tells where the task's time went.
            if (waits.weight > 0 || roles[Role.javaWall]!.weight > 0) for (const row of pythonWall.rows) this.isGone[row] = 1;
        }
        if (pythonCpu.weight > 0 && boundary.weight > 0) this.pair(pythonCpu, boundary, false);
    }

    run(): Profile {
        for (const roles of this.tasks().values()) this.stitchTask(roles);
        return { ...this.profile, nodes: this.nodes.finish(), rows: this.rows() };
    }

    private rows(): Rows {
        const old = this.profile.rows;
        const kept: number[] = [];
        for (let i = 0; i < old.count; i++) if (!this.isGone[i]) kept.push(i);
        const from = Uint32Array.from([...kept, ...this.like]);
        const pick = (column: Uint32Array): Uint32Array => (column.length === 0 ? column : Uint32Array.from(from, (row) => column[row]!));
        const node = pick(old.node), counts = Float64Array.from(from, (row) => old.counts[row]!);
        const values = old.values.length === 0 ? old.values : Float64Array.from(from, (row) => old.values[row]!);
        this.like.forEach((row, i) => {
            const at = kept.length + i, count = this.count[i]!;
            node[at] = this.node[i]!;
            counts[at] = count;
            if (values.length > 0) values[at] = old.counts[row] === 0 ? count : old.values[row]! * (count / old.counts[row]!);
        });
        return { count: from.length, node, event: pick(old.event), side: pick(old.side), set: pick(old.set), tick: pick(old.tick), counts, values };
    }
}

/** The profile with Python below Java; null where no task has both. */
export function stitched(profile: Profile): Profile | null {
    if (!profile.meta.labels.includes("task")) return null;
    const facts = factsOf(profile);
    if (!facts) return null;
    const joined = new Stitcher(profile, facts).run();
    return joined.nodes.count > profile.nodes.count ? joined : null;
}
