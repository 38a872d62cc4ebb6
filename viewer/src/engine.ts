// From state to trees and sums, each step kept until something it depends on changes. Knows nothing of the screen.
import type { Profile, ValueType } from "./profile.js";
import type { State } from "./state.js";
import { Names, toPattern } from "./names.js";
import { markStacks, select, type Selection } from "./selection.js";
import { buildCallees, buildCallers, buildForward, buildReversed, type ForwardSpec, type ForwardTree } from "./build.js";
import { arrange, pathTo, type LooseTree, type Tree } from "./tree.js";
import { sumMethods, type MethodSums } from "./methods.js";
import { findPath, KeyHashes, markRemoved } from "./path_hash.js";
import { addClasses, buildChart, type Chart } from "./chart.js";
import { CLASS_COUNT } from "./colors.js";

/** Boxes of a reversed tree smaller than this share of what is on screen are not opened. */
const MINIMUM_SHARE = 1e-4;
/** Rows of the heat map. */
const MOST_STRIP_ROWS = 8;

/** Keeps the result of the last call while its key stays the same. */
class Kept<T> {
    private key: string | null = null;
    private value: T | undefined;

    get(key: string, make: () => T): T {
        if (this.key !== key) {
            this.value = make();
            this.key = key;
        }
        return this.value as T;
    }
}

/** How the address names a type. */
export function typeId(type: ValueType): string {
    return `${type.name}/${type.unit}`;
}

export interface Classes {
    texts: string[];
    /** Class of each label set. */
    ofSet: Uint8Array;
}

export interface Shown {
    tree: Tree;
    zoom: number;
}

export class Engine {
    private readonly keptNames = new Kept<{ names: Names; hashes: () => KeyHashes; ranks: () => Uint32Array }>();
    private readonly keptSelection = new Kept<Selection>();
    private readonly keptForward = new Kept<ForwardTree>();
    private readonly keptTree = new Kept<Tree>();
    private readonly keptFocused = new Kept<Tree>();
    private readonly keptCallers = new Kept<Tree>();
    private readonly keptCallees = new Kept<Tree>();
    private readonly keptChart = new Kept<Chart>();
    private readonly keptSums = new Kept<MethodSums>();
    private readonly keptClasses = new Map<string, Classes>();
    private readonly keptStrip = new Kept<{ texts: string[]; rows: Float64Array[] }>();
    /** Keys to boxes that were zoomed; a box may lie below where the plain tree is cut. */
    private readonly knownPaths = new Map<string, number[]>();

    constructor(readonly profile: Profile) {}

    get sideCount(): number {
        return this.profile.meta.sides ? 2 : 1;
    }

    typeIndex(state: State): number {
        return Math.max(0, this.profile.types.findIndex((type) => typeId(type) === state.type));
    }

    /** Index of the type of "before" in a comparison. */
    private typeBeforeIndex(state: State): number {
        const found = this.profile.types.findIndex((type) => typeId(type) === state.typeBefore);
        return found >= 0 ? found : this.typeIndex(state);
    }

    /** Two recordings may have no event in common; then each side begins with the first that it has. */
    startTypes(): { type: string; typeBefore: string } {
        const { types } = this.profile;
        const totals = types.map((_, type) => select(this.profile, { type, ticks: null, labels: [], dropped: null }).totals);
        if (this.sideCount === 1 || totals.some(([before, after]) => before! > 0 && after! > 0)) {
            const shared = Math.max(0, totals.findIndex((sides) => sides.every((total) => total > 0)));
            return { type: shared > 0 ? typeId(types[shared]!) : "", typeBefore: "" };
        }
        const first = (side: number): string => {
            const found = totals.findIndex((total) => total[side]! > 0);
            return found >= 0 ? typeId(types[found]!) : "";
        };
        return { type: first(1), typeBefore: first(0) };
    }

    type(state: State): ValueType {
        return this.profile.types[this.typeIndex(state)]!;
    }

    private namesKey(state: State): string {
        return `${state.readable} ${state.lines}`;
    }

    private nameTools(state: State): { names: Names; hashes: () => KeyHashes; ranks: () => Uint32Array } {
        return this.keptNames.get(this.namesKey(state), () => {
            const names = new Names(this.profile, state);
            // Groups may be added later; then both are made again.
            const hashes = new Kept<KeyHashes>();
            const ranks = new Kept<Uint32Array>();
            return {
                names,
                hashes: () => hashes.get(String(names.count), () => new KeyHashes(names)),
                ranks: () => ranks.get(String(names.count), () => names.ranks()),
            };
        });
    }

    names(state: State): Names {
        return this.nameTools(state).names;
    }

    hashes(state: State): KeyHashes {
        return this.nameTools(state).hashes();
    }

    private forwardSpec(state: State): ForwardSpec {
        const names = this.names(state);
        let hidden: Uint8Array | null = null;
        if (state.hidden.length > 0) {
            const texts = new Set(state.hidden);
            hidden = new Uint8Array(names.methodCount);
            for (let key = 0; key < hidden.length; key++) if (texts.has(names.text(key)) || texts.has(names.raw(key))) hidden[key] = 1;
        }
        return { hidden, fold: state.fold, groupBy: this.profile.meta.labels.indexOf(state.group) };
    }

    private selectionKey(state: State): string {
        return JSON.stringify([this.namesKey(state), state.type, state.typeBefore, state.keep, state.drop, state.ignoreCase, state.removed, state.only,
                               state.time, state.removed.length > 0 ? [state.hidden, state.fold] : 0]);
    }

    selection(state: State): Selection {
        return this.keptSelection.get(this.selectionKey(state), () => select(this.profile, {
            type: this.typeIndex(state), typeBefore: this.typeBeforeIndex(state), ticks: state.time, labels: state.only, dropped: this.dropped(state),
        }));
    }

    private dropped(state: State): Uint8Array | null {
        const names = this.names(state);
        const keep = toPattern(state.keep, state.ignoreCase);
        const drop = toPattern(state.drop, state.ignoreCase);
        if (!keep && !drop && state.removed.length === 0) return null;
        const marked = drop ? markStacks(this.profile, names.matchingFrames(drop)) : new Uint8Array(this.profile.nodes.count);
        if (state.removed.length > 0) {
            markRemoved(this.profile, names, this.hashes(state), this.forwardSpec(state), state.removed, marked);
        }
        if (keep) {
            const kept = markStacks(this.profile, names.matchingFrames(keep));
            for (let i = 0; i < kept.length; i++) if (!kept[i]) marked[i] = 1;
        }
        return marked;
    }

    /** Values of a label as at most CLASS_COUNT classes, by weight in the whole profile. */
    classes(label: string, type: number): Classes {
        const key = `${label} ${type}`;
        let classes = this.keptClasses.get(key);
        if (!classes) this.keptClasses.set(key, classes = this.makeClasses(label, type));
        return classes;
    }

    private makeClasses(label: string, type: number): Classes {
        const column = this.profile.sets[this.profile.meta.labels.indexOf(label)];
        if (!column) return { texts: [], ofSet: new Uint8Array(0) };
        const all = select(this.profile, { type, ticks: null, labels: [], dropped: null });
        const sums = new Map<number, number>();
        all.rows.forEach((row, i) => {
            const value = column[this.profile.rows.set[row]!]!;
            sums.set(value, (sums.get(value) ?? 0) + all.values[i]!);
        });
        const order = [...sums].sort((a, b) => b[1] - a[1]).map(([value]) => value);
        const own = order.length > CLASS_COUNT ? order.slice(0, CLASS_COUNT - 1) : order;
        const texts = own.map((value) => (value === 0 ? `(no ${label})` : this.profile.strings.text(value - 1)));
        if (own.length < order.length) texts.push("other");
        const place = new Map(own.map((value, index) => [value, index]));
        return { texts, ofSet: Uint8Array.from(column, (value) => place.get(value) ?? texts.length - 1) };
    }

    private colorLabel(state: State): string {
        return state.color.startsWith("label:") ? state.color.slice(6) : "";
    }

    private forwardKey(state: State): string {
        return JSON.stringify([this.selectionKey(state), state.hidden, state.fold, state.group, this.colorLabel(state)]);
    }

    /** Columns beyond the sides are the classes of the label that colours. */
    forward(state: State): ForwardTree {
        return this.keptForward.get(this.forwardKey(state), () => {
            const selection = this.selection(state);
            const built = buildForward(this.profile, this.names(state), selection, this.forwardSpec(state));
            const label = this.colorLabel(state);
            if (label === "" || this.profile.sets.length === 0) return built;
            const classes = this.classes(label, this.typeIndex(state));
            const columns = classes.texts.map(() => new Float64Array(built.tree.count));
            for (let i = 0; i < built.rowNode.length; i++) {
                const at = classes.ofSet[this.profile.rows.set[selection.rows[i]!]!]!;
                columns[at]![built.rowNode[i]!]! += selection.values[i]!;
            }
            built.tree.self.push(...columns);
            return built;
        });
    }

    /** Factors that make the two sides comparable: 1 and 1, or what brings "before" to the total of "after". */
    factors(state: State): number[] {
        if (this.sideCount === 1) return [1];
        const [before, after] = this.selection(state).totals as [number, number];
        return state.normalize && before > 0 && after > 0 ? [after / before, 1] : [1, 1];
    }

    /** How much each column counts for the width of boxes. */
    private widths(state: State): number[] {
        const factors = this.factors(state);
        const columns = this.forward(state).tree.self.length;
        const shares = this.sideCount === 1 ? [1]
            : state.width === "before" ? [1, 0] : state.width === "after" ? [0, 1] : [0.5, 0.5];
        return Array.from({ length: columns }, (_, i) => (i < shares.length ? shares[i]! * factors[i]! : 0));
    }

    private treeKey(state: State): string {
        return JSON.stringify([this.forwardKey(state), state.reverse, state.order, state.width, state.normalize]);
    }

    private arranged(loose: LooseTree, state: State): Tree {
        return arrange(loose, state.order, this.nameTools(state).ranks(), this.widths(state));
    }

    private reversed(state: State, focus: number[]): Tree {
        const loose = this.forward(state).tree;
        const spec = { minimumShare: MINIMUM_SHARE, focus, grouped: state.group !== "" };
        return this.arranged(buildReversed(loose, this.widths(state), spec), state);
    }

    /** The tree of the flame graph and where it is zoomed. */
    shown(state: State): Shown {
        const key = this.treeKey(state);
        const tree = this.keptTree.get(key, () => (state.reverse ? this.reversed(state, []) : this.arranged(this.forward(state).tree, state)));
        if (state.zoom === "") return { tree, zoom: 0 };
        const zoom = findPath(tree, state.zoom, this.hashes(state));
        if (!state.reverse) return { tree, zoom };
        const focus = zoom > 0 ? this.keysTo(tree, zoom) : this.knownPaths.get(state.zoom);
        if (!focus) return { tree, zoom: 0 };
        const focused = this.keptFocused.get(`${key} ${state.zoom}`, () => this.reversed(state, focus));
        return { tree: focused, zoom: findPath(focused, state.zoom, this.hashes(state)) };
    }

    /** Times are known, and one profile is shown, not two. */
    get hasChart(): boolean {
        return this.profile.meta.time !== undefined && this.sideCount === 1;
    }

    /** The label that makes the lanes of the chart: that of the groups, else the thread; "" for one lane. */
    laneLabel(state: State): string {
        const { labels } = this.profile.meta;
        return labels.includes(state.group) ? state.group : labels.includes("thread") ? "thread" : "";
    }

    /** Stacks in the order of time. */
    chart(state: State): Chart {
        const { meta, rows } = this.profile;
        return this.keptChart.get(this.forwardKey(state), () => {
            const selection = this.selection(state);
            const { hidden, fold } = this.forwardSpec(state);
            const ticks = state.time ?? [0, meta.time!.ticks - 1];
            const chart = buildChart(this.profile, this.names(state), selection, {
                hidden, fold, ticks: [Math.min(ticks[0], meta.time!.ticks - 1), Math.min(ticks[1], meta.time!.ticks - 1)],
                laneBy: meta.labels.indexOf(this.laneLabel(state)), gapless: meta.time!.unit !== undefined,
            });
            const label = this.colorLabel(state);
            if (label === "" || this.profile.sets.length === 0) return chart;
            const classes = this.classes(label, this.typeIndex(state));
            addClasses(chart, (at) => classes.ofSet[rows.set[selection.rows[at]!]!]!, selection.values, classes.texts.length);
            return chart;
        });
    }

    private keysTo(tree: Tree, node: number): number[] {
        return pathTo(tree, node).map((at) => tree.key[at]!);
    }

    /** To be called before zooming, so that the box is found again in a tree that is opened around it. */
    remember(tree: Tree, node: number, path: string): void {
        if (node > 0) this.knownPaths.set(path, this.keysTo(tree, node));
    }

    sums(state: State): MethodSums {
        return this.keptSums.get(this.forwardKey(state), () => sumMethods(this.forward(state).tree, this.names(state).count));
    }

    callers(state: State, key: number): Tree {
        const spec = { minimumShare: MINIMUM_SHARE, focus: [], grouped: false };
        return this.keptCallers.get(`${this.treeKey(state)} ${key}`,
                                    () => this.arranged(buildCallers(this.forward(state).tree, key, this.widths(state), spec), state));
    }

    callees(state: State, key: number): Tree {
        return this.keptCallees.get(`${this.treeKey(state)} ${key}`,
                                    () => this.arranged(buildCallees(this.forward(state).tree, key), state));
    }

    /** Weights per tick of what passes all filters but the time range, in rows by the grouping label. */
    strip(state: State): { texts: string[]; rows: Float64Array[] } {
        const timeless: State = { ...state, time: null };
        return this.keptStrip.get(`${this.selectionKey(timeless)} ${state.group}`, () => {
            const { rows, meta } = this.profile;
            const selection = select(this.profile, {
                type: this.typeIndex(state), typeBefore: this.typeBeforeIndex(state), ticks: null, labels: state.only, dropped: this.dropped(state),
            });
            const grouped = meta.labels.includes(state.group);
            const classes = grouped ? this.classes(state.group, this.typeIndex(state)) : null;
            const texts = classes && classes.texts.length > 0 ? classes.texts.slice(0, MOST_STRIP_ROWS) : [""];
            const sums = texts.map(() => new Float64Array(meta.time!.ticks));
            for (let i = 0; i < selection.rows.length; i++) {
                const row = selection.rows[i]!;
                const tick = rows.tick[row]!;
                if (tick === 0) continue;
                const at = classes ? Math.min(classes.ofSet[rows.set[row]!]!, sums.length - 1) : 0;
                sums[at]![tick - 1]! += selection.values[i]!;
            }
            return { texts, rows: sums };
        });
    }
}
