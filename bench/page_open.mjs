// page_open.mjs PAGE…: opens pages in Chromium, several times each, and prints how long it takes until they are
// drawn, and how long zoom, search and reversing take. Wall times, and the processor time of the page's own process,
// which other work on the machine does not lengthen as much.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage } from "../tests/browser/browser.mjs";
import { printBest, rendererSeconds } from "./page_times.mjs";

/** Milliseconds from a change until the next picture is drawn. */
async function timed(page, act) {
    return page.evaluate((text) => new Promise((done) => {
        const began = performance.now();
        new Function(text)();
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
    }), act);
}

async function measure(file) {
    const browser = await launch();
    const { page, close } = await openPage(browser, pathToFileURL(resolve(file)).href, { bypassCSP: true });
    await eventually("ready", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    const cpu = await rendererSeconds(browser);
    const marks = await page.evaluate(() => performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime]));
    const result = { cpu: cpu * 1000 };
    for (const [name, time] of marks) result[name.replace("sparkflame-", "")] = time;
    const press = (key) => `document.dispatchEvent(new KeyboardEvent("keydown", { key: "${key}" }))`;
    result.search = await timed(page, `const box = document.querySelector("#search"); box.value = "Class1|a1"; box.dispatchEvent(new Event("input"))`);
    result.zoom = await timed(page, `const c = document.querySelector("#view-flame canvas"), b = c.getBoundingClientRect();
        c.dispatchEvent(new MouseEvent("click", { clientX: b.left + b.width * 0.4, clientY: b.bottom - 60, bubbles: true }))`);
    result.reset = await timed(page, press("0"));
    result.reverse = await timed(page, press("r"));
    result.table = await timed(page, press("2"));
    await close();
    await browser.close();
    return result;
}

await printBest(measure);
