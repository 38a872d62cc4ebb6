// Flame graphs in the page of a report: chosen by stage, task, executor, language, event and time; one stage's, and
// its slowest tasks against the median.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
const data = join(ROOT, "tests", "data");
let browser;

before(async () => {
    sparkflame(["report", join(data, "event_log", "single"), join(data, "report"), "-o", scratch.path("report.html")]);
    scratch.write("plain.folded", "main;work 3\nmain;rest 4\n");
    sparkflame(["report", join(data, "event_log", "single"), scratch.path("plain.folded"), "-o", scratch.path("plain.html")]);
    sparkflame(["report", join(data, "advice", "stages"), "-o", scratch.path("operators.html")]);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

async function open(name = "report.html", options = {}, hash = "") {
    const opened = await openPage(browser, pathToFileURL(scratch.path(name)).href + hash, options);
    await eventually("the samples are shown", () => opened.page.evaluate(() => document.querySelector("#flames")?.dataset.ready ?? ""), "1");
    return opened;
}

const status = (page, inside) => page.textContent(`${inside} #status`);
const shows = (page, inside, wanted) => eventually(`${inside} shows ${wanted}`, async () => wanted.test(await status(page, inside)), true);
/** Pixels of a flame graph that are neither empty nor grey. */
const coloured = (page, inside) => page.locator(`${inside} #view-flame canvas`).evaluate((canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let found = 0;
    for (let i = 0; i < pixels.length; i += 4) found += Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 30;
    return found;
});

for (const colorScheme of ["light", "dark"]) {
    test(`the flame graph is drawn in ${colorScheme}`, async () => {
        const { page, problems, close } = await open("report.html", { colorScheme });
        await shows(page, "#flames", /^cpu: 220 samples/);
        await eventually("boxes are drawn", async () => await coloured(page, "#flames") > 1000, true);
        const back = await page.locator("#flames #page").evaluate((host) => getComputedStyle(host).color);
        assert.equal(back === "rgb(232, 234, 237)", colorScheme === "dark");
        await page.click("header > #theme");
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme === "dark" ? "light" : "dark");
        assert.deepEqual(problems, []);
        await close();
    });
}

test("samples are chosen by label, event and the time of the timeline", async () => {
    const { page, problems, close } = await open();
    const choose = (label, value) => page.selectOption(`#flames select[data-label=${label}]`, value);
    assert.deepEqual(await page.locator("#flames .choices select").evaluateAll((lists) => lists.map((list) => list.dataset.label)),
                     ["stage", "task", "executor", "thread", "state", "language"]);
    await choose("stage", "=2");
    await shows(page, "#flames", /^cpu: 70 samples/);
    await choose("task", "=10");
    await shows(page, "#flames", /^cpu: 40 samples/);
    await page.locator("#flames .chip", { hasText: "task = 10" }).click();
    await shows(page, "#flames", /^cpu: 70 samples/);
    assert.equal(await page.inputValue("#flames select[data-label=task]"), "");
    await choose("stage", "");
    await choose("language", "=Python");
    await shows(page, "#flames", /^cpu: 20 samples/);
    await choose("language", "=native");
    await shows(page, "#flames", /^cpu: 30 samples/);
    await choose("language", "");
    await choose("executor", "=driver");
    await shows(page, "#flames", /^cpu: 220 samples/);
    await page.selectOption("#flames #type", { label: "wall" });
    await shows(page, "#flames", /^wall: 95 samples/);
    await page.locator("#timeline canvas").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("+");
    await eventually("less time is shown", async () => Number(/^wall: (\d+)/.exec(await status(page, "#flames"))?.[1] ?? 95) < 95, true);
    await page.keyboard.press("Home");
    await shows(page, "#flames", /^wall: 95 samples/);
    assert.deepEqual(problems, []);
    await close();
});

test("keys work in the viewer that has the focus, and going back does not leave the page", async () => {
    const { page, problems, close } = await open();
    await page.locator("#flames #view-flame canvas").focus();
    await page.keyboard.press("2");
    await eventually("methods are listed", () => page.locator("#flames #view-table .row").count().then((count) => count > 2), true);
    assert.match(await page.locator("#flames #view-table").innerText(), /Job\.work/);
    await page.locator("#flames .row").first().click();
    await eventually("callers and callees", () => page.isVisible("#flames #view-sandwich"), true);
    await page.locator("#flames #tab-flame").click();
    await page.locator("#flames #back").click();
    await eventually("back", () => page.isVisible("#flames #view-sandwich"), true);
    await page.locator("#flames #help").click();
    await eventually("help", () => page.isVisible("#flames dialog"), true);
    await page.keyboard.press("Escape");
    await eventually("no help", () => page.locator("#flames dialog").count(), 0);
    assert.equal(await page.evaluate(() => location.hash), "");
    assert.deepEqual(problems, []);
    await close();
});

test("a stage has its flame graph, and its slowest tasks against the median", async () => {
    const { page, problems, close } = await open("report.html", {}, "#stage=2.0");
    await eventually("the stage's graph", () => page.evaluate(() => document.querySelector("#stage-flames")?.dataset.shown ?? ""), "all");
    await shows(page, "#stage-flames", /^cpu: 70 samples/);
    await page.click("#stage-flames [data-view=slowest]");
    await shows(page, "#stage-flames", /^cpu: \d+ → 40 samples/);
    await page.locator("#stage-flames #tab-table").click();
    await eventually("the change is shown", async () => /futex_wait/.test(await page.locator("#stage-flames #view-table").innerText()), true);
    assert.match(await page.textContent("#stage-flames #legend") + await page.textContent("#stage-flames #width"), /slowest/);
    assert.ok((await page.screenshot({ fullPage: true })).length > 20_000);
    assert.deepEqual(problems, []);
    await close();
});

test("a profile without labels and times is shown, too", async () => {
    const { page, problems, close } = await open("plain.html");
    await shows(page, "#flames", /^samples: 7/);
    await page.click("#stage-table tbody tr:nth-child(3) .link");
    assert.equal(await page.locator("#stage-flames").count(), 0);
    assert.deepEqual(problems, []);
    await close();
});

test("operators lead to the flame graph of their generated code", async () => {
    const { page, problems, close } = await open("operators.html", {}, "#stage=1.0");
    const rows = await page.locator("#stage-operators tr").allTextContents();
    assert.match(rows[0], /^Sort144/);
    await page.click("#stage-operators tr:first-child .link");
    await shows(page, "#flame", /144/);
    await eventually("the list names the stage", () => page.inputValue('#flame select[data-label="stage"]'), "=1");
    const share = page.locator(".plan-details .link", { hasText: "of the samples" }).first();
    await share.click();
    assert.deepEqual(problems, []);
    await close();
});
