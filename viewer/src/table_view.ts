// A table of many rows of which only those on screen exist.
import { element } from "./dom.js";

export interface Column {
    id: string;
    title: string;
    hint: string;
    /** Numbers sort downwards first. */
    numeric: boolean;
    text(key: number): string;
    /** Sort value. */
    order(key: number): number | string;
    /** Share for the bar behind a number, 0 to 1; negative ones show blue. */
    bar?(key: number): number;
}

const ROW = 26;

export class TableView {
    readonly host = element("div", { class: "table", role: "table", "aria-label": "Methods" });
    private readonly head = element("div", { class: "table-head", role: "row" });
    private readonly body = element("div", { class: "table-body", tabindex: "0" });
    private readonly inner = element("div", { class: "table-inner" });
    private columns: Column[] = [];
    private keys: Uint32Array = new Uint32Array(0);
    private selected = 0;
    sortBy = "";
    descending = true;

    constructor(private readonly open: (key: number) => void, private readonly menu: (key: number, x: number, y: number) => void) {
        this.body.append(this.inner);
        this.host.append(this.head, this.body);
        this.body.addEventListener("scroll", () => this.draw(), { passive: true });
        new ResizeObserver(() => this.draw()).observe(this.body);
        this.body.addEventListener("keydown", (event) => this.key(event));
    }

    get count(): number {
        return this.keys.length;
    }

    show(columns: Column[], keys: Uint32Array): void {
        this.columns = columns;
        if (!columns.some((column) => column.id === this.sortBy)) {
            this.sortBy = (columns.find((column) => column.numeric) ?? columns[0]!).id;
            this.descending = true;
        }
        this.keys = keys;
        this.sort();
    }

    private sort(): void {
        const column = this.columns.find((one) => one.id === this.sortBy)!;
        const way = this.descending ? -1 : 1;
        const order = new Map<number, number | string>();
        for (const key of this.keys) order.set(key, column.order(key));
        this.keys = this.keys.slice().sort((a, b) => {
            const left = order.get(a)!;
            const right = order.get(b)!;
            return left < right ? -way : left > right ? way : a - b;
        });
        this.selected = 0;
        this.drawHead();
        this.draw();
    }

    private drawHead(): void {
        this.head.replaceChildren(...this.columns.map((column) => {
            const sorted = column.id === this.sortBy;
            const button = element("button", { type: "button", title: column.hint, "data-column": column.id },
                                   column.title, sorted ? (this.descending ? " ▾" : " ▴") : "");
            button.addEventListener("click", () => {
                this.descending = sorted ? !this.descending : column.numeric;
                this.sortBy = column.id;
                this.sort();
            });
            return element("div", { role: "columnheader", class: column.numeric ? "number" : "text",
                                    "aria-sort": sorted ? (this.descending ? "descending" : "ascending") : "none" }, button);
        }));
    }

    private key(event: KeyboardEvent): void {
        const page = Math.max(1, Math.floor(this.body.clientHeight / ROW) - 1);
        const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        const step = steps[event.key];
        if (step !== undefined) {
            event.preventDefault();
            this.selected = Math.max(0, Math.min(this.keys.length - 1, this.selected + step));
            const top = this.selected * ROW;
            if (top < this.body.scrollTop) this.body.scrollTop = top;
            else if (top + ROW > this.body.scrollTop + this.body.clientHeight) this.body.scrollTop = top + ROW - this.body.clientHeight;
            this.draw();
        } else if (event.key === "Enter" && this.keys.length > 0) {
            event.preventDefault();
            this.open(this.keys[this.selected]!);
        }
    }

    draw(): void {
        const first = Math.max(0, Math.floor(this.body.scrollTop / ROW) - 2);
        const last = Math.min(this.keys.length, first + Math.ceil(this.body.clientHeight / ROW) + 5);
        this.inner.style.height = `${this.keys.length * ROW}px`;
        this.host.setAttribute("aria-rowcount", String(this.keys.length + 1));
        const rows: HTMLElement[] = [];
        for (let i = first; i < last; i++) rows.push(this.row(i));
        if (this.keys.length === 0) rows.push(element("p", { class: "empty" }, "No method matches the filters."));
        this.inner.replaceChildren(...rows);
    }

    private row(index: number): HTMLElement {
        const key = this.keys[index]!;
        const row = element("div", { role: "row", class: index === this.selected ? "row selected" : "row", "aria-rowindex": String(index + 2) });
        row.style.top = `${index * ROW}px`;
        for (const column of this.columns) {
            const cell = element("div", { role: "cell", class: column.numeric ? "number" : "text" });
            const share = column.bar?.(key) ?? 0;
            if (share !== 0) {
                const bar = element("div", { class: share < 0 ? "bar less" : column.id.includes("change") ? "bar more" : "bar" });
                bar.style.width = `${Math.min(100, Math.abs(share) * 100)}%`;
                cell.append(bar);
            }
            const text = column.text(key);
            cell.append(element("span", { title: column.numeric ? null : text }, text));
            row.append(cell);
        }
        row.addEventListener("click", () => this.open(key));
        row.addEventListener("contextmenu", (event) => {
            event.preventDefault();
            this.menu(key, event.clientX, event.clientY);
        });
        return row;
    }
}
