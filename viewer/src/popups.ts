// What floats above the page: hint, menu of a box, help.
import { element } from "./dom.js";
import type { Details } from "./details.js";

/** Where what floats above a picture is put: the page, or the shadow tree that the picture is in. */
export function popupParent(host: HTMLElement): HTMLElement | ShadowRoot {
    const root = host.getRootNode();
    return root instanceof ShadowRoot ? root : document.body;
}

function activeElement(host: HTMLElement): Element | null {
    const root = host.getRootNode();
    return root instanceof ShadowRoot ? root.activeElement : document.activeElement;
}

export class Hint {
    private readonly host = element("div", { id: "hint", role: "tooltip", hidden: true });

    constructor(parent: HTMLElement | ShadowRoot) {
        parent.append(this.host);
    }

    show(details: Details, x: number, y: number, extra: string): void {
        this.host.replaceChildren(
            element("div", { class: "hint-name" }, details.name),
            details.raw ? element("div", { class: "hint-raw" }, `recorded as ${details.raw}`) : "",
            details.place ? element("div", { class: "hint-place" }, details.place) : "",
            element("dl", {}, ...details.facts.flatMap(([heading, text]) => [element("dt", {}, heading), element("dd", {}, text)])),
            extra ? element("div", { class: "hint-place" }, extra) : "");
        this.host.hidden = false;
        const { offsetWidth: width, offsetHeight: height } = this.host;
        const left = Math.max(4, Math.min(x + 14, window.innerWidth - width - 6));
        const below = y + 18 + height < window.innerHeight;
        this.host.style.left = `${left}px`;
        this.host.style.top = `${below ? y + 18 : Math.max(4, y - height - 12)}px`;
    }

    hide(): void {
        this.host.hidden = true;
    }
}

export interface MenuItem {
    id: string;
    text: string;
    act(): void;
}

export class Menu {
    private readonly host = element("div", { id: "menu", role: "menu", hidden: true });
    private before: Element | null = null;

    constructor(parent: HTMLElement | ShadowRoot) {
        parent.append(this.host);
        document.addEventListener("pointerdown", (event) => {
            if (!this.host.hidden && !event.composedPath().includes(this.host)) this.hide();
        });
        this.host.addEventListener("keydown", (event) => this.key(event));
    }

    show(title: string, items: MenuItem[], x: number, y: number): void {
        this.before = activeElement(this.host);
        this.host.replaceChildren(element("div", { class: "menu-title" }, title), ...items.map((item) => {
            const button = element("button", { type: "button", role: "menuitem", "data-item": item.id }, item.text);
            button.addEventListener("click", () => {
                this.hide();
                item.act();
            });
            return button;
        }));
        this.host.hidden = false;
        const { offsetWidth: width, offsetHeight: height } = this.host;
        this.host.style.left = `${Math.max(4, Math.min(x, window.innerWidth - width - 6))}px`;
        this.host.style.top = `${Math.max(4, Math.min(y, window.innerHeight - height - 6))}px`;
        this.host.querySelector("button")?.focus();
    }

    get open(): boolean {
        return !this.host.hidden;
    }

    hide(): void {
        this.host.hidden = true;
        if (this.before instanceof HTMLElement) this.before.focus({ preventScroll: true });
    }

    private key(event: KeyboardEvent): void {
        const buttons = [...this.host.querySelectorAll("button")];
        const at = buttons.indexOf(activeElement(this.host) as HTMLButtonElement);
        if (event.key === "Escape") this.hide();
        else if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length]?.focus();
        else if (event.key === "ArrowUp") buttons[(at + buttons.length - 1) % buttons.length]?.focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
}

const KEYS: [string, string][] = [
    ["click, Enter", "zoom into a box; click a faded box or “all” to go out"],
    ["right click, long press", "menu of a box"],
    ["Alt + click, X", "remove this stack"],
    ["arrows", "walk from box to box"],
    ["Backspace, 0", "back; reset zoom"],
    ["/, N, Shift+N", "search; next, previous match"],
    ["Escape", "leave the search, close"],
    ["I, R, F, O", "root on top; reverse; fold recursion; order"],
    ["1, 2, 3, 4", "flame graph; methods; callers and callees; flame chart"],
    ["S, H, C", "callers and callees of the box; hide it; copy its name"],
    ["D, ?", "dark or light; this help"],
];

export function dialog(parent: HTMLElement | ShadowRoot, title: string, ...children: HTMLElement[]): HTMLDialogElement {
    const made = element("dialog", { "aria-label": title }, element("h2", {}, title), ...children,
                         element("button", { type: "button", class: "close", click: () => made.close() }, "Close"));
    made.addEventListener("close", () => made.remove());
    parent.append(made);
    made.showModal();
    return made;
}

export function showHelp(parent: HTMLElement | ShadowRoot): void {
    dialog(parent, "How to read this",
        element("p", {}, "Each box is a method. Its width is the share of samples in which it was on the stack; the box it stands on called it. " +
            "Wide boxes at the far end are where the time itself is spent. Place from left to right has no meaning, and is not time; " +
            "only in the flame chart it is: there one lane per thread shows what ran when, and a click shows only the time of a box."),
        element("table", {}, ...KEYS.map(([key, what]) => element("tr", {}, element("th", { scope: "row" }, key), element("td", {}, what)))));
}

export function showText(parent: HTMLElement | ShadowRoot, title: string, text: string): void {
    dialog(parent, title, element("pre", {}, text));
}
