// What the pages of a report and of a fleet share: sections with links to them, light or dark, paper.
import { element } from "./dom.js";
import { applyTheme, isDark, startsDark, storedTheme, storeTheme } from "./theme.js";

export function section(id: string, title: string, ...children: (Node | null)[]): HTMLElement {
    return element("section", { id, "aria-labelledby": `${id}-title` }, element("h2", { id: `${id}-title` }, title), ...children);
}

function themeButton(): HTMLElement {
    const change = (): void => {
        storeTheme(!isDark());
        applyTheme(!isDark());
    };
    return element("button", { id: "theme", type: "button", title: "Light or dark", "aria-label": "Light or dark", click: change }, "◐");
}

/** Fills the page; `linked` are the sections that the head links to. */
export function showSections(host: HTMLElement, title: string, sections: HTMLElement[], linked: HTMLElement[], more: HTMLElement[] = []): void {
    const links = linked.map((part) => element("a", { href: `#${part.id}` }, part.querySelector("h2")!.textContent!));
    host.replaceChildren(element("a", { class: "skip", href: "#content" }, "Skip to the content"), element("header", {}, element("h1", {}, title), element("nav", {}, ...links), themeButton()),
                         element("main", { id: "content", tabindex: "-1" }, ...sections), ...more);
    host.removeAttribute("aria-busy");
}

/** As chosen once, else as the system has it; paper is white. */
export function followTheme(): void {
    applyTheme(startsDark());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => storedTheme() === null && applyTheme(event.matches));
    let wasDark = false;
    window.addEventListener("beforeprint", () => {
        wasDark = isDark();
        applyTheme(false);
    });
    window.addEventListener("afterprint", () => applyTheme(wasDark));
}
