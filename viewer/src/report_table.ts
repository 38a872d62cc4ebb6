// A table whose columns sort by a click on their heads.
import { element } from "./dom.js";

export interface Column<Row> {
    title: string;
    text: (row: Row) => string;
    /** What to sort by; text columns sort by their text. */
    number?: (row: Row) => number;
    wide?: boolean;
    /** What the cell shows instead of its text. */
    node?: (row: Row) => HTMLElement | null;
}

export function sortableTable<Row>(id: string, caption: string, columns: Column<Row>[], rows: Row[],
                                   choose?: (row: Row) => void, most = 500): HTMLElement {
    let sorted = -1, down = true;
    const body = element("tbody");
    const heads = columns.map((column, place) => {
        const button = column.node ? column.title : element("button", { type: "button", click: () => sortBy(place) }, column.title);
        return element("th", { scope: "col", class: column.number ? "number" : column.wide ? "wide" : null }, button);
    });
    const rest = element("p", { class: "label" });

    function fill(): void {
        const shown = rows.slice(0, most).map((row) => {
            const cells = columns.map((column, place) => {
                if (column.node) return element("td", {}, column.node(row));
                const text = column.text(row);
                const inner = choose && place === 0 && text !== "–"
                    ? element("button", { type: "button", class: "link", click: () => choose(row) }, text) : text;
                return element("td", { class: column.number ? "number" : column.wide ? "wide" : null, title: column.wide ? text : null }, inner);
            });
            return element("tr", {}, ...cells);
        });
        body.replaceChildren(...shown);
        rest.textContent = rows.length > most ? `The first ${most} of ${rows.length.toLocaleString("en")}; sort to see others.` : "";
    }

    function sortBy(place: number): void {
        const column = columns[place]!;
        down = sorted === place ? !down : column.number !== undefined;
        sorted = place;
        const sign = down ? -1 : 1;
        const { number, text } = column;
        rows = [...rows].sort((a, b) => sign * (number ? number(a) - number(b) : text(a).localeCompare(text(b))));
        heads.forEach((head, i) => i === place ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort"));
        fill();
    }

    fill();
    const table = element("table", { id }, element("caption", { class: "off-screen" }, caption),
                          element("thead", {}, element("tr", {}, ...heads)), body);
    return element("div", { class: "table" }, table, rest);
}
