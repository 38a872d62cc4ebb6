// The page of a report: all its sections, from disk, in light and dark, by mouse and by keyboard.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
const data = join(ROOT, "tests", "data");
let browser;

before(async () => {
    sparkflame(["report", join(data, "event_log", "single"), join(data, "spark_log", "driver.log"), "-o", scratch.path("report.html")]);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

async function open(options = {}, hash = "") {
    const opened = await openPage(browser, pathToFileURL(scratch.path("report.html")).href + hash, options);
    await eventually("the page is ready", () => opened.page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    return opened;
}

const count = (page, selector) => page.locator(selector).count();
/** Pixels of the timeline that are neither empty nor grey. */
const coloured = (page) => page.evaluate(() => {
    const canvas = document.querySelector("#timeline canvas");
    const pixels = canvas.getContext("2d").getImageData(90, 45, canvas.width - 90, canvas.height - 45).data;
    let found = 0;
    for (let i = 0; i < pixels.length; i += 4) found += pixels[i + 3] > 0 && Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 40;
    return found;
});

for (const colorScheme of ["light", "dark"]) {
    test(`shows all sections with content in ${colorScheme}`, async () => {
        const { page, problems, close } = await open({ colorScheme });
        assert.equal(await page.title(), "event log of a test");
        for (const id of ["summary", "advice", "times", "stages", "sql", "errors", "chunks"]) assert.equal(await count(page, `section#${id}`), 1, id);
        assert.equal(await count(page, "#stage-table tbody tr"), 7);
        assert.ok(await count(page, "#time-spent tr") >= 4);
        assert.match(await page.textContent("#time-spent"), /scheduling3\.0 s/);
        assert.match(await page.textContent("#idle"), /^71 % of the executors' cores were idle, of 5\.0 min in all\.$/);
        assert.ok(await count(page, "#advice li") >= 2);
        assert.ok(await count(page, ".error") >= 3);
        assert.equal(await count(page, ".query[open] .plan li"), 12);
        assert.match(await page.textContent("#errors"), /ValueError: bad record <b>&<\/b>/);
        assert.ok(await count(page, ".chunk pre") >= 3);
        await eventually("tasks are drawn", async () => await coloured(page) > 100, true);
        const back = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(back === "rgb(255, 255, 255)", colorScheme === "light");
        assert.ok((await page.screenshot({ fullPage: true })).length > 20_000);
        assert.deepEqual(problems, []);
        await close();
    });
}

test("a stage opens from the table, from advice and from its address", async () => {
    const { page, problems, close } = await open();
    await page.click("#stage-table tbody tr:nth-child(3) .link");
    assert.match(await page.textContent("#stage-title"), /^Stage 2\.0/);
    assert.equal(await count(page, "#slowest tbody tr"), 4);
    assert.match(await page.evaluate(() => location.hash), /#stage=2\.0/);
    await page.click("#advice li .link");
    assert.doesNotMatch(await page.textContent("#stage-title"), /^Stage 2\.0/);
    assert.deepEqual(problems, []);
    await close();
    const second = await open({}, "#stage=7.0");
    assert.match(await second.page.textContent("#stage"), /always bad/);
    await second.close();
});

test("a query's plan shows what its operators counted and leads to their stages", async () => {
    const { page, problems, close } = await open();
    assert.match(await page.textContent(".query summary"), /Query 0 collect at .* plan changed 3 times/);
    assert.match(await page.textContent(".plan li:nth-child(12)"), /^Range.*number of output rows 1,000$/);
    assert.match(await page.textContent(".plan li:nth-child(10)"), /time in aggregation build 135 ms \(65 ms, 70 ms, 70 ms\)/);
    assert.equal(await page.getAttribute(".plan li:nth-child(12) .count", "title"), "2 tasks: least 500, median 500, most 500 in task 15");
    await page.click(".plan li:nth-child(4) .link");
    assert.match(await page.textContent("#stage-title"), /^Stage 6\.0/);
    assert.deepEqual(problems, []);
    await close();
});

test("tables sort by their heads", async () => {
    const { page, close } = await open();
    const first = () => page.textContent("#stage-table tbody tr:first-child td:first-child");
    await page.click("#stage-table th:nth-child(1) button");
    assert.equal(await first(), "7.0");
    assert.equal(await page.getAttribute("#stage-table th:nth-child(1)", "aria-sort"), "descending");
    await page.click("#stage-table th:nth-child(1) button");
    assert.equal(await first(), "0.0");
    await close();
});

test("the timeline zooms by dragging and by keys, and tells what a task is", async () => {
    const { page, problems, close } = await open();
    const canvas = page.locator("#timeline canvas");
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    const whole = await canvas.evaluate((found) => found.toDataURL());
    const drawn = () => canvas.evaluate((found) => found.toDataURL());
    await page.mouse.move(box.x + 400, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 700, box.y + 60, { steps: 4 });
    await page.mouse.up();
    await eventually("it is zoomed", async () => await drawn() !== whole, true);
    await canvas.dblclick({ position: { x: 500, y: 10 } });
    await eventually("it is whole again", async () => await drawn() === whole, true);
    await canvas.focus();
    await page.keyboard.press("+");
    await eventually("a key zooms", async () => await drawn() !== whole, true);
    await page.keyboard.press("Home");
    await eventually("a key shows all", async () => await drawn() === whole, true);
    const place = await canvas.evaluate((found) => {
        const context = found.getContext("2d");
        for (let y = 45; y < found.height; y += 3)
            for (let x = 90; x < found.width; x += 3) {
                const [red, green, blue, alpha] = context.getImageData(x, y, 1, 1).data;
                if (alpha > 0 && Math.max(red, green, blue) - Math.min(red, green, blue) > 40) return { x, y };
            }
        return null;
    });
    await canvas.hover({ position: { x: place.x + 2, y: place.y + 1 } });
    await eventually("the hint shows", () => page.isVisible("#hint"), true);
    assert.match(await page.textContent("#hint"), /task \d+\.\d+ in stage \d+\.\d+ \(TID \d+\)/);
    assert.deepEqual(problems, []);
    await close();
});
