// How the hosts of a recording compare: the matrix of their similarity, and the functions by which they differ.
import { element, select, setOptions } from "./dom.js";
import { dialog } from "./popups.js";

export interface HostDifference {
    /** Absent: too few hosts or samples to name one; `others` and `share` are the least and the most of all. */
    host?: number;
    function: string;
    /** Without its callees. */
    self: boolean;
    share: number;
    others: number;
}

export interface HostPart {
    /** Absent: all samples. */
    stage?: string;
    application?: string;
    /** Hosts with enough samples. */
    sampled: number;
    /** Hosts are named: what differs is significant. */
    named: boolean;
    /** Lower triangle with the diagonal; null: a host has no samples. */
    similarity: (number | null)[][];
    differences: HostDifference[];
}

export interface HostComparison {
    names: string[];
    needed_hosts: number;
    needed_samples: number;
    parts: HostPart[];
}

export interface HostHooks {
    /** Show only samples of this host. */
    only(host: string): void;
    search(name: string): void;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export function partName(comparison: HostComparison, part: HostPart): string {
    if (part.stage === undefined) return "All samples";
    const several = new Set(comparison.parts.slice(1).map((one) => one.application)).size > 1;
    return `Stage ${part.stage}${several ? ` of ${part.application ?? ""}` : ""}`;
}

/** What follows the name of the host or of the function in a line. */
export function differenceText(difference: HostDifference): string {
    if (difference.host === undefined) return `between ${percent(difference.others)} and ${percent(difference.share)} of a host's time`;
    return `${difference.self ? "itself " : ""}${percent(difference.share)} of its time, ${percent(difference.others)} of the other hosts'`;
}

export function verdict(comparison: HostComparison, part: HostPart): string {
    const { needed_hosts: hosts, needed_samples: samples } = comparison;
    if (!part.named) return `No host is named: this needs ${hosts} hosts with ${samples} samples each; there ${part.sampled === 1 ? "is" : "are"} ${part.sampled}.`;
    return part.differences.length === 0 ? "No host differs significantly from the others." : "";
}

function cell(value: number | null | undefined): HTMLElement {
    const made = element("td", {}, value === null || value === undefined ? "–" : value.toFixed(2));
    const distance = value === null || value === undefined ? 0 : Math.min(1, Math.max(0, 1 - value) * 2);
    if (distance > 0.005) made.style.backgroundColor = `rgba(214, 69, 65, ${(0.65 * distance).toFixed(3)})`;
    return made;
}

function matrix(comparison: HostComparison, part: HostPart, hooks: HostHooks): HTMLElement {
    const rows = part.similarity;
    const named = new Set(part.differences.map((difference) => difference.host));
    const names = comparison.names.slice(0, rows.length);
    const heading = (name: string, i: number): HTMLElement =>
        element("th", { scope: "row", class: named.has(i) ? "differs" : "" },
                element("button", { type: "button", class: "link", title: `Only samples of ${name}`, click: () => hooks.only(name) }, name));
    return element("div", { class: "host-matrix", tabindex: 0, role: "region", "aria-label": "Similarity of the hosts" },
        element("table", {},
            element("thead", {}, element("tr", {}, element("th", {}), ...names.map((name, i) => element("th", { scope: "col", class: named.has(i) ? "differs" : "" }, name)))),
            element("tbody", {}, ...names.map((name, i) =>
                element("tr", {}, heading(name, i), ...names.map((_, j) => cell(j <= i ? rows[i]![j] : rows[j]![i])))))));
}

function differences(comparison: HostComparison, part: HostPart, hooks: HostHooks): HTMLElement {
    return element("ul", { class: "host-differences" }, ...part.differences.map((difference) =>
        element("li", {}, difference.host === undefined ? null : element("strong", {}, comparison.names[difference.host] ?? ""), difference.host === undefined ? "" : ": ",
                element("button", { type: "button", class: "link", title: "Search for it", click: () => hooks.search(difference.function) }, difference.function),
                ` ${differenceText(difference)}`)));
}

export function showHosts(parent: HTMLElement | ShadowRoot, comparison: HostComparison, hooks: HostHooks): void {
    const content = element("div");
    const close = (act: (text: string) => void) => (text: string): void => {
        made.close();
        act(text);
    };
    const closing: HostHooks = { only: close(hooks.only), search: close(hooks.search) };
    const show = (part: HostPart): void => {
        const hidden = comparison.names.length - part.similarity.length;
        content.replaceChildren(element("p", {}, verdict(comparison, part)), differences(comparison, part, closing), matrix(comparison, part, closing),
                                element("p", { class: "soft" }, "1: the functions have the same shares of both hosts' time." +
                                        (hidden > 0 ? ` The first ${part.similarity.length} of ${comparison.names.length} hosts.` : "")));
    };
    const parts = select("host-part", "What is compared", (value) => show(comparison.parts[Number(value)]!));
    setOptions(parts, comparison.parts.map((part, i): [string, string] => [String(i), partName(comparison, part)]), "0");
    const made = dialog(parent, "Hosts", ...(comparison.parts.length > 1 ? [parts] : []), content);
    made.classList.add("wide");
    show(comparison.parts[0]!);
}
