// Light or dark: what was chosen once, else what the system has.
const THEME_KEY = "sparkflame-theme";

/** null: nothing was chosen. */
export function storedTheme(): boolean | null {
    try {
        const stored = localStorage.getItem(THEME_KEY);
        return stored === null ? null : stored === "dark";
    } catch {
        return null;
    }
}

export function storeTheme(dark: boolean): void {
    try {
        localStorage.setItem(THEME_KEY, dark ? "dark" : "light");
    } catch {
        // Some browsers keep nothing for pages from disk.
    }
}

export function startsDark(): boolean {
    return storedTheme() ?? matchMedia("(prefers-color-scheme: dark)").matches;
}

export function applyTheme(dark: boolean): void {
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

export function isDark(): boolean {
    return document.documentElement.dataset["theme"] === "dark";
}
