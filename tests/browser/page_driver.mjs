// Hands and eyes for the page: boxes are found by level and place, and read from the table for screen readers.
import { eventually, openPage } from "./browser.mjs";

const ROW = 18;

export class Page {
    constructor(opened) {
        Object.assign(this, opened);
    }

    /** Opens an address and waits until the picture is there. */
    static async open(browser, address, options = {}) {
        const opened = new Page(await openPage(browser, address, options));
        await opened.ready();
        return opened;
    }

    async ready() {
        await eventually("the page is ready", () => this.page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    }

    /** The middle of a row at `share` (0 to 1) of the width, roots on top. `view` picks one of several pictures. */
    async place(level, share, view = "#view-flame .flame canvas") {
        const bounds = await this.page.locator(view).boundingBox();
        return { x: bounds.x + bounds.width * share, y: bounds.y + level * ROW + ROW / 2 };
    }

    async click(level, share, options = {}) {
        const { x, y } = await this.place(level, share);
        if (options.alt) await this.page.keyboard.down("Alt");
        await this.page.mouse.click(x, y, options);
        if (options.alt) await this.page.keyboard.up("Alt");
    }

    async hover(level, share) {
        const { x, y } = await this.place(level, share);
        await this.page.mouse.move(x, y);
    }

    async menu(level, share, item) {
        await this.click(level, share, { button: "right" });
        await this.page.click(`#menu [data-item="${item}"]`);
    }

    /** "level name total self" of the boxes on screen. */
    boxes() {
        return this.page.evaluate(() => [...document.querySelectorAll("#boxes tbody tr")].map((row) => {
            const cells = [...row.children].map((cell) => cell.textContent);
            return `${cells[0]} ${cells[1]} ${cells[2]} ${cells[4]}`;
        }));
    }

    async expectBoxes(what, expected) {
        await eventually(what, () => this.boxes(), expected);
    }

    async expectText(what, selector, expected) {
        await eventually(`${what} (${selector})`, () => this.page.textContent(selector), expected);
    }

    async expectHash(what, expected) {
        await eventually(what, () => this.page.evaluate(() => decodeURIComponent(location.hash)), expected);
    }

    pressed(id) {
        return this.page.getAttribute(`#${id}`, "aria-pressed");
    }

    /** The colour of the picture at a place, as [r, g, b]. */
    async color(level, share, view = "#view-flame .flame canvas", down = 0.2) {
        return this.page.evaluate(([selector, row, part, offset]) => {
            const canvas = document.querySelector(selector);
            const ratio = canvas.width / canvas.clientWidth;
            const x = Math.round(canvas.width * part);
            const y = Math.round((row + offset) * 18 * ratio);
            return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3);
        }, [view, level, share, down]);
    }

    async download(act) {
        const [file] = await Promise.all([this.page.waitForEvent("download"), act()]);
        const chunks = [];
        for await (const chunk of await file.createReadStream()) chunks.push(chunk);
        return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
    }
}
