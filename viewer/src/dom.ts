// Makes elements without markup text, so that no name can become markup and a strict policy holds.

type Props = Record<string, string | boolean | number | ((event: never) => void) | null | undefined>;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {},
                                                              ...children: (Node | string | null)[]): HTMLElementTagNameMap[K] {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === "function") made.addEventListener(name, value as unknown as EventListener);
        else made.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children) if (child !== null) made.append(child);
    return made;
}

/** A button that stays pressed. */
export function toggle(id: string, text: string, title: string, change: (pressed: boolean) => void): HTMLButtonElement {
    const button = element("button", { id, title, type: "button", class: "toggle", "aria-pressed": "false" }, text);
    button.addEventListener("click", () => change(button.getAttribute("aria-pressed") !== "true"));
    return button;
}

export function setPressed(button: HTMLElement, pressed: boolean): void {
    button.setAttribute("aria-pressed", String(pressed));
}

export function select(id: string, label: string, change: (value: string) => void): HTMLSelectElement {
    const made = element("select", { id, "aria-label": label, title: label });
    made.addEventListener("change", () => change(made.value));
    return made;
}

export function setOptions(list: HTMLSelectElement, options: [string, string][], value: string): void {
    const wanted = JSON.stringify(options);
    if (list.dataset["options"] !== wanted) {
        list.dataset["options"] = wanted;
        list.replaceChildren(...options.map(([id, text]) => element("option", { value: id }, text)));
    }
    list.value = value;
}

/** Calls `body` once things have been quiet for a while. */
export function debounce(body: () => void, delayMs: number): () => void {
    let timer = 0;
    return () => {
        window.clearTimeout(timer);
        timer = window.setTimeout(body, delayMs);
    };
}

export async function copyText(text: string): Promise<boolean> {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = element("textarea", { class: "off-screen", "aria-hidden": "true" });
        area.value = text;
        document.body.append(area);
        area.select();
        const done = document.execCommand("copy");
        area.remove();
        return done;
    }
}

export function saveFile(name: string, content: Blob): void {
    const address = URL.createObjectURL(content);
    const link = element("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    window.setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
