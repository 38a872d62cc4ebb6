// Short ways from folded text to trees, for tests.
import { decodeProfile, type Meta, type Profile } from "../src/profile.js";
import { select } from "../src/selection.js";
import { Names } from "../src/names.js";
import { buildForward, type ForwardSpec, type ForwardTree } from "../src/build.js";
import { arrange, type LooseTree, type Order, type Tree, pathTo } from "../src/tree.js";
import { encodeProfile, folded } from "./encode.js";

export function profileOf(text: string, meta: Partial<Meta> = {}): Profile {
    return decodeProfile(encodeProfile(meta, folded(text)));
}

export function namesOf(profile: Profile): Names {
    return new Names(profile, { readable: true, lines: false });
}

export function forward(profile: Profile, names: Names, spec: Partial<ForwardSpec> = {}): ForwardTree {
    const selection = select(profile, { type: 0, ticks: null, labels: [], dropped: null });
    return buildForward(profile, names, selection, { hidden: null, fold: false, groupBy: -1, ...spec });
}

export function arranged(loose: LooseTree, names: Names, order: Order = "name", weights: number[] = [1, 1]): Tree {
    return arrange(loose, order, names.ranks(), weights);
}

/** "a;b total self" of every box, in drawing order. */
export function boxes(tree: Tree, names: Names): string[] {
    return Array.from({ length: tree.count - 1 }, (_, i) => {
        const path = pathTo(tree, i + 1).map((node) => names.text(tree.key[node]!)).join(";");
        return `${path} ${tree.total.map((t) => t[i + 1]).join("/")} ${tree.self.map((s) => s[i + 1]).join("/")}`;
    });
}
