// Hot spots of what is chosen; one method with its callers and callees, and what it took in each application.
import type { AnyMethods, Method, MethodApplication, MethodRow, Methods, Neighbour } from "./console_api.js";
import { type ConsoleState, exactly } from "./console_state.js";
import { debounce, element, setPressed, toggle } from "./dom.js";
import { formatCount, formatShare, formatValue } from "./numbers.js";
import { type Column, sortableTable } from "./report_table.js";

type Go = (change: Partial<ConsoleState>) => void;

const HOUR_NS = 3.6e12;
const UNITS: Record<string, string> = { ns: "nanoseconds", bytes: "bytes", samples: "samples" };

/** What so much CPU time costs. */
export function money(value: number, weights: AnyMethods, price: number): string {
    const cost = (value * weights.ns_per_unit / HOUR_NS) * price;
    return cost >= 1000 ? formatCount(Math.round(cost)) : cost >= 0.01 || cost === 0 ? cost.toFixed(2) : cost.toPrecision(2);
}

/** Time if it is known what a sample stands for. */
export function amount(value: number, weights: AnyMethods): string {
    if (value === 0) return "0";
    if (weights.ns_per_unit > 0) return formatValue(value * weights.ns_per_unit, "nanoseconds");
    return formatValue(value, UNITS[weights.unit]!);
}

/** A bar of SVG: styles of elements would break the page's policy. */
function bar(part: number, whole: number): HTMLElement {
    const meter = element("meter", { min: 0, max: 1, value: whole > 0 ? Math.min(1, part / whole) : 0, "aria-hidden": "true" });
    return element("span", { class: "share" }, meter, formatShare(part, whole));
}

export class MethodsPanel {
    readonly node = element("div", { id: "methods", class: "panel" });
    private readonly search = element("input", { id: "search", type: "search", placeholder: "Search methods", "aria-label": "Search methods" });
    private readonly byTotal = toggle("by-total", "with callees", "Order by what methods took together with what they called", (byTotal) => this.go({ byTotal }));
    private readonly price = element("input", { id: "price", size: 6, inputmode: "decimal", placeholder: "price", "aria-label": "Price of a core for an hour" });
    private readonly status = element("span", { class: "label", role: "status" });
    private readonly controls: HTMLElement;
    private readonly content = element("div", { class: "panel" });

    constructor(private readonly go: Go) {
        this.search.addEventListener("input", debounce(() => this.go({ search: this.search.value.trim() }), 250));
        this.price.addEventListener("change", () => this.go({ price: this.price.value.trim().replace(",", ".") }));
        this.controls = element("div", { class: "row" }, this.search, this.byTotal,
            element("label", {}, element("span", { class: "label" }, "price of a core-hour "), this.price), this.status);
        this.node.append(this.controls, this.content);
    }

    /** What stands in the address. */
    controlsOf(state: ConsoleState, groupPrice: number | undefined): void {
        if (document.activeElement !== this.search) this.search.value = state.search;
        if (document.activeElement !== this.price) this.price.value = state.price;
        this.price.placeholder = groupPrice === undefined ? "price" : String(groupPrice);
        setPressed(this.byTotal, state.byTotal);
        this.search.hidden = this.byTotal.hidden = state.method !== "";
    }

    show(found: Methods | Method, state: ConsoleState, groupPrice: number | undefined): void {
        const price = state.price === "" ? groupPrice ?? 0 : Number(state.price);
        const isTime = found.event === "cpu" && found.ns_per_unit > 0;
        this.status.textContent = `${found.event}: ${amount(found.total, found)}${isTime && price > 0 ? `, ${money(found.total, found, price)}` : ""}` +
            (found.unit === "samples" && found.ns_per_unit > 0 ? ` (${formatValue(found.ns_per_unit, "nanoseconds")} for a sample)` : "");
        const costs = isTime && price > 0 ? price : 0;
        this.content.replaceChildren(...("callers" in found ? this.method(found, costs) : this.hotSpots(found, state, costs)));
    }

    private link(name: string): HTMLElement {
        return element("button", { type: "button", class: "link", click: () => this.go({ method: name }) }, name);
    }

    private hotSpots(found: Methods, state: ConsoleState, price: number): HTMLElement[] {
        const columns: Column<MethodRow>[] = [
            { title: "method", text: (row) => row.method, wide: true, node: (row) => this.link(row.method) },
            { title: "self", text: (row) => amount(row.self, found), number: (row) => row.self },
            { title: "share", text: () => "", node: (row) => bar(row.self, found.total) },
            { title: "with callees", text: (row) => amount(row.total, found), number: (row) => row.total },
            { title: "share with callees", text: (row) => formatShare(row.total, found.total), number: (row) => row.total },
        ];
        if (price > 0) columns.splice(3, 0, { title: "cost", text: (row) => money(row.self, found, price), number: (row) => row.self });
        if (found.methods.length === 0) return [element("p", {}, state.search === "" ? "No method took anything." : `No method has ${state.search} in its name.`)];
        const rest = found.found - found.methods.length;
        return [sortableTable("method-table", "Hot spots", columns, found.methods, undefined, 1000),
            ...(rest > 0 ? [element("p", { class: "label" }, `and ${formatCount(rest)} that took less: search for them.`)] : [])];
    }

    private neighbours(id: string, caption: string, rows: Neighbour[], rest: [string, number], found: Method): HTMLElement {
        const all = rest[1] > 0 ? [...rows, { method: "", weight: rest[1] }] : rows;
        const columns: Column<Neighbour>[] = [
            { title: caption, text: (row) => row.method, wide: true, node: (row) => row.method === "" ? element("i", {}, rest[0]) : this.link(row.method) },
            { title: "weight", text: (row) => amount(row.weight, found), number: (row) => row.weight },
            { title: "share", text: () => "", node: (row) => bar(row.weight, found.method_total) },
        ];
        return element("div", { class: "half" }, sortableTable(id, caption, columns, all));
    }

    private method(found: Method, price: number): HTMLElement[] {
        const columns: Column<MethodApplication>[] = [
            { title: "application", text: (row) => row.application, wide: true, node: (row) => row.application === "" ? element("i", {}, "unknown")
                : element("button", { type: "button", class: "link", click: () => this.go({ application: row.application, attempt: "" }) }, row.application) },
            { title: "self", text: (row) => amount(row.self, found), number: (row) => row.self },
            { title: "with callees", text: (row) => amount(row.total, found), number: (row) => row.total },
            { title: "share of the application", text: () => "", node: (row) => bar(row.total, row.all) },
        ];
        if (price > 0) columns.splice(3, 0, { title: "cost", text: (row) => money(row.total, found, price), number: (row) => row.total });
        return [
            element("div", { class: "row" }, element("button", { type: "button", id: "all-methods", click: () => this.go({ method: "" }) }, "← all methods"),
                element("h3", { id: "method-name" }, found.method),
                element("button", { type: "button", id: "in-flame", click: () => this.go({ view: "flame", include: exactly(found.method) }) }, "Flame graph of it")),
            element("p", { id: "method-sums" }, `self ${amount(found.self, found)} (${formatShare(found.self, found.total)}), with callees ${amount(found.method_total, found)} (${formatShare(found.method_total, found.total)})` +
                (price > 0 ? `, cost ${money(found.method_total, found, price)}` : "")),
            element("div", { class: "halves" }, this.neighbours("callers", "called by", found.callers, ["no caller", found.outermost], found),
                this.neighbours("callees", "calls", found.callees, ["itself", found.self], found)),
            sortableTable("method-applications", "In applications", columns, found.applications),
        ];
    }
}
