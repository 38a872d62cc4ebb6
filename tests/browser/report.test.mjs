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
        assert.match(await page.textContent("#time-spent"), /^Where the executors' core time went.*scheduling2\.7 s.*idle, no task there: driver only3\.1 min62 %/);
        assert.match(await page.textContent("#idle"), /^71 % of the executors' cores were idle, of 5\.0 min in all\.$/);
        assert.ok(await count(page, "#advice li") >= 2);
        assert.match(await page.textContent("#summary #first"), /^Do this first: .*\. What to do: .*; saves .*\(certainty: (high|medium|low)\)$/);
        assert.ok(await count(page, ".error") >= 3);
        assert.equal(await count(page, ".query[open] .plan-box"), 6);
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
    await page.click("#advice li:nth-child(2) .link");
    assert.doesNotMatch(await page.textContent("#stage-title"), /^Stage 2\.0/);
    assert.deepEqual(problems, []);
    await close();
    const second = await open({}, "#stage=7.0");
    assert.match(await second.page.textContent("#stage"), /always bad/);
    await second.close();
});

test("findings of one cause are one, and lead to their query", async () => {
    sparkflame(["report", join(data, "plans", "carrier.gz"), "-o", scratch.path("carrier.html")]);
    const { page, problems, close } = await openPage(browser, pathToFileURL(scratch.path("carrier.html")).href);
    await eventually("the page is ready", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    assert.match(await page.textContent("#first"), /^Do this first: missed-broadcastquery 0 \(collect at \/job\/carrier\.py:20\) shuffles and sorts 165 MiB to join it with 28 KiB/);
    assert.deepEqual(await page.locator("#advice li .rule").allTextContents(), ["missed-broadcast", "spill"]);
    assert.equal(await page.textContent("#advice li:first-child p:last-child"), "the same: query 1");
    await page.evaluate(() => { document.querySelector("#query-1").open = false; });
    await page.click("#advice li:first-child p:last-child .link");
    assert.equal(await page.evaluate(() => document.querySelector("#query-1").open && document.activeElement.closest("#query-1") !== null), true);
    assert.deepEqual(problems, []);
    await close();
});

test("a job with which nothing is wrong has nothing to do first", async () => {
    sparkflame(["report", join(data, "healthy", "order_priority.gz"), "-o", scratch.path("healthy.html")]);
    const { page, close } = await openPage(browser, pathToFileURL(scratch.path("healthy.html")).href);
    await eventually("the page is ready", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    assert.equal(await page.textContent("#first"), "Do this first: nothing; no rule found anything that would save a second");
    assert.equal(await count(page, "#advice"), 0);
    await close();
});

test("a query's plan shows what its operators counted and leads to their stages", async () => {
    const { page, problems, close } = await open();
    assert.match(await page.textContent(".query summary"), /Query 0 collect at .* plan changed 3 times/);
    await page.locator(".query summary", { hasText: "Operators as a list" }).click();
    await eventually("the list is made", () => count(page, ".query[open] .plan li"), 12);
    assert.match(await page.textContent(".plan li:nth-child(12)"), /^Range.*number of output rows 1,000$/);
    assert.match(await page.textContent(".plan li:nth-child(10)"), /time in aggregation build 135 ms \(65 ms, 70 ms, 70 ms\)/);
    assert.equal(await page.getAttribute(".plan li:nth-child(12) .count", "title"), "2 tasks: least 500, median 500, most 500 in task 15");
    await page.click(".plan li:nth-child(4) .link");
    assert.match(await page.textContent("#stage-title"), /^Stage 6\.0/);
    assert.deepEqual(problems, []);
    await close();
});

test("the picture of a plan is moved, zoomed and walked through, and leaves the wheel to the page", async () => {
    const { page, problems, close } = await open();
    assert.deepEqual(await page.locator(".plan-box").evaluateAll((boxes) => boxes.map((box) => box.getAttribute("aria-label"))), [
        "HashAggregate, 3 rows, 57 ms, 1 %", "AQEShuffleRead", "Exchange, 6 rows, 398 ms, 10 %", "HashAggregate, 6 rows, 135 ms, 3 %", "Project", "Range, 1,000 rows"]);
    assert.equal(await page.textContent(".plan-hot-note"), "generated code · 3.4 s · 82 % of its own");
    const frame = page.locator(".plan-frame");
    await frame.scrollIntoViewIfNeeded();
    await page.locator(".plan-box").nth(2).click();
    assert.match(await page.textContent(".plan-details"), /Exchange.*stage 4.*stage 6.*data size 144 B/);
    await page.keyboard.press("ArrowUp");
    assert.match(await page.textContent(".plan-details"), /time in aggregation build 135 ms/);
    await page.keyboard.press("ArrowDown");
    assert.match(await page.textContent(".plan-details"), /^Exchange/);
    const width = () => page.locator(".plan-frame svg").evaluate((svg) => svg.getBoundingClientRect().width);
    const before = await width(), box = await frame.boundingBox(), scrolled = () => page.evaluate(() => scrollY);
    await page.keyboard.press("+");
    assert.ok(await width() > before);
    await page.evaluate(() => scrollTo(0, scrollY - 300));
    const top = await scrolled();
    await page.mouse.move(box.x + 300, box.y + 350);
    await page.mouse.wheel(0, 120);
    await eventually("the page scrolls", async () => await scrolled() > top, true);
    const wide = await width();
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    await eventually("it is larger", async () => await width() > wide, true);
    for (let i = 0; i < 3; i++) await page.locator(".plan-picture .choice", { hasText: "+" }).click();
    const place = await frame.evaluate((found) => found.scrollTop);
    const area = await frame.boundingBox();
    await page.mouse.move(area.x + 40, area.y + 60);
    await page.mouse.down();
    await page.mouse.move(area.x + 40, area.y + 20, { steps: 3 });
    await page.mouse.up();
    assert.equal(await frame.evaluate((found) => found.scrollTop), place + 40);
    await page.click(".plan-details .link");
    assert.match(await page.textContent("#stage-title"), /^Stage 4\.0/);
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

test("the timeline zooms by dragging and by keys, and shows the details of a task", async () => {
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

test("on a phone nothing is cut off, and a finger scrolls", async () => {
    const { page, problems, close } = await open({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    // Tables, plans and the links scroll sideways by themselves.
    const cut = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((one) => !one.closest(".table, .plan-frame, pre, .off-screen"))
        .filter((one) => one.getBoundingClientRect().right > 391).map((one) => one.outerHTML.slice(0, 80)));
    assert.deepEqual(cut, []);
    for (const [selector, style] of [[".plan-frame", "auto"], [".table", "auto"], ["header nav", "auto"]]) {
        assert.equal(await page.locator(selector).first().evaluate((one) => getComputedStyle(one).overflowX), style, selector);
    }
    assert.deepEqual(problems, []);
    await close();
});

test("paper is white, without controls", async () => {
    const { page, problems, close } = await open({ colorScheme: "dark", viewport: { width: 760, height: 1000 } });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    for (const selector of ["nav", "#theme", ".choices", ".skip"]) assert.equal(await page.locator(selector).first().isVisible(), false, selector);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    assert.deepEqual(problems, []);
    await close();
});

test("sliders show what other executors or cores would take", async () => {
    const { page, problems, close } = await open();
    assert.match(await page.textContent("#what-if"), /driver only.*ideally balanced.*predicts this very run with an error of \d+\.\d %/s);
    const slider = page.locator("#what-if input").first(), told = () => page.locator("#what-if output").first().textContent();
    assert.match(await told(), /^1 executor of 2 cores: .* \(as it ran, simulated\)$/);
    await slider.focus();
    await page.keyboard.press("End");
    await eventually("more cores", told, /^1 executor of (?!2 )\d+ cores: .* \(−?\+?\d+ % time, \+\d+ % cores\)$/);
    await page.locator("#what-if summary").click();
    await page.locator("#what-if li .link").first().click();
    assert.match(await page.textContent("#stage-title"), /^Stage \d/);
    assert.deepEqual(problems, []);
    await close();
});
