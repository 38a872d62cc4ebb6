// Keys of the console, where nothing is being typed; "?" lists them.
import { element } from "./dom.js";

export interface KeyTargets {
    views: HTMLButtonElement[];
    filter: HTMLInputElement;
    moveInList: (by: number) => void;
    theme: () => void;
}

const HELP: [string, string][] = [["1 – 6", "flame graph, hot spots, memory, regressions, compare, report"], ["j, k", "next or previous application"],
    ["/", "filter applications"], ["← →", "in the time line: move the range; with Shift make it longer"], ["d", "dark or light"], ["?", "this list"], ["Esc", "close; in the time line: all of it"]];

function help(): HTMLDialogElement {
    const dialog = element("dialog", { id: "keys", "aria-label": "Keys" }, element("h2", {}, "Keys"), element("dl", {},
        ...HELP.map(([key, text]) => element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)))));
    dialog.append(element("button", { type: "button", click: () => dialog.close() }, "Close"));
    return dialog;
}

export function followKeys(targets: KeyTargets): HTMLDialogElement {
    const dialog = help();
    document.body.append(dialog);
    const actions: Record<string, () => void> = {
        "/": () => targets.filter.focus(), "j": () => targets.moveInList(1), "k": () => targets.moveInList(-1), "d": targets.theme, "?": () => dialog.showModal(),
    };
    document.addEventListener("keydown", (event) => {
        const { target } = event;
        if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return;
        const view = /^[1-9]$/.test(event.key) ? targets.views[Number(event.key) - 1] : undefined;
        const action = view ? () => view.click() : actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    });
    return dialog;
}
