// report_open.mjs PAGE…: opens pages of reports in Chromium, several times each, and prints how long it takes until
// they are drawn and until the flame graph is there, and how long the timeline takes for a step. Wall times, and the
// processor time of the page's own process, which other work on the machine does not lengthen as much.
// bench/report_input.py makes an input.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage } from "../tests/browser/browser.mjs";
import { printBest, rendererSeconds } from "./page_times.mjs";

async function measure(file) {
    const browser = await launch();
    const { page, close } = await openPage(browser, pathToFileURL(resolve(file)).href, { bypassCSP: true });
    await eventually("drawn", () => page.evaluate(() => performance.getEntriesByName("sparkflame-drawn").length), 1);
    const cpuDrawn = await rendererSeconds(browser);
    const has = await page.locator("#flames").count();
    if (has > 0) await eventually("flames", () => page.evaluate(() => document.querySelector("#flames").dataset.ready ?? ""), "1");
    const cpu = await rendererSeconds(browser);
    const marks = await page.evaluate(() => performance.getEntriesByType("mark").map((mark) => [mark.name, mark.startTime]));
    const result = { "cpu until drawn": cpuDrawn * 1000, "cpu in all": cpu * 1000 };
    for (const [name, time] of marks) result[name.replace("sparkflame-", "")] = time;
    const step = (key) => page.evaluate((pressed) => {
        const canvas = document.querySelector("#timeline canvas"), began = performance.now();
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: pressed }));
        canvas.getContext("2d").getImageData(0, 0, 1, 1);
        return performance.now() - began;
    }, key);
    result["zoom in"] = await step("+");
    result.move = await step("ArrowRight");
    result["zoom out"] = await step("Home");
    result.hover = await page.evaluate(() => {
        const canvas = document.querySelector("#timeline canvas"), box = canvas.getBoundingClientRect(), began = performance.now();
        for (let i = 0; i < 10; i++) canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + 200 + i * 40, clientY: box.top + 100 + i * 10, bubbles: true }));
        return (performance.now() - began) / 10;
    });
    await close();
    await browser.close();
    return result;
}

await printBest(measure);
