// The boxes on screen as a table that readers of the screen can walk; it is not drawn.
import { element } from "./dom.js";

export interface BoxRow {
    level: number;
    name: string;
    total: string;
    self: string;
    share: string;
    open(): void;
}

export class BoxTable {
    private readonly body = element("tbody");
    readonly host = element("table", { id: "boxes", class: "off-screen" },
        element("caption", {}, "Boxes on screen, from the root outwards"),
        element("thead", {}, element("tr", {}, ...["Level", "Method", "Total", "Share of all", "Self"].map((text) => element("th", { scope: "col" }, text)))),
        this.body);

    show(rows: BoxRow[]): void {
        this.body.replaceChildren(...rows.map((row) => element("tr", {},
            element("td", {}, String(row.level)),
            element("th", { scope: "row" }, element("button", { type: "button", tabindex: "-1", click: () => row.open() }, row.name)),
            element("td", {}, row.total), element("td", {}, row.share), element("td", {}, row.self))));
    }
}
