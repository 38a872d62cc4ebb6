// The console's views beside the flame graph: hot spots, one method, memory, regressions; keys; a phone.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, launch, ROOT, scratchFolder } from "./browser.mjs";
import { cpuProfile, openConsole, post, startCollector } from "./console_driver.mjs";

const BAD = `<img/src=x/onerror="window.pwned=1">`;
const scratch = scratchFolder();
let browser, server, address;
const open = (hash, options) => openConsole(browser, `${address}/#${hash}`, options);
const cells = (page, table) => page.locator(`#${table} tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
const chosen = (page) => page.locator(".tabs [aria-pressed=true]").textContent();

before(async () => {
    server = await startCollector(scratch.path("data"), "--ended-after", "1");
    ({ address } = server);
    const label = "application_name=nightly";
    await post(address, cpuProfile([["main;parse", 1], ["main;join;hash", 1]]), { application: "run-1", label });
    await post(address, cpuProfile([["main;parse;hash", 7], [`main;${BAD}`, 1], ["main;join;hash", 1]]), { application: "run-2", label });
    await post(address, readFileSync(join(ROOT, "tests", "data", "jfr", "async_profiler.jfr.gz")), { application: "heap", group: "memory" });
    await eventually("the regression is found", async () => (await (await fetch(`${address}/v1/regressions?group=etl`)).json()).regressions.length, 1);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    server?.end();
    scratch.remove();
});

test("hot spots of a group are searched, priced and followed to callers and callees", async () => {
    const { page, problems, close } = await open("group=etl");
    await page.click("#view-methods");
    await eventually("the methods are there", () => cells(page, "method-table"), (rows) => rows.length === 5);
    assert.deepEqual((await cells(page, "method-table"))[0], ["hash", "9.00 s", "81.82 %", "9.00 s", "81.82 %"]);
    await page.fill("#price", "360");
    await page.press("#price", "Enter");
    await eventually("the cost is there", async () => (await cells(page, "method-table"))[0][3], "0.90");
    await page.fill("#search", "JOI");
    await eventually("one is found", () => cells(page, "method-table"), (rows) => rows.length === 1 && rows[0][0] === "join");
    await page.click("#method-table button.link");
    await eventually("its name", () => page.textContent("#method-name"), "join");
    assert.deepEqual((await cells(page, "callers")).map((row) => row[0]), ["main"]);
    assert.deepEqual((await cells(page, "callees")).map((row) => [row[0], row[1]]), [["hash", "2.00 s"]]);
    assert.deepEqual((await cells(page, "method-applications")).map((row) => row[0]).sort(), ["run-1", "run-2"]);
    const link = page.url();
    await page.click("#callees button.link");
    await eventually("the callee", () => page.textContent("#method-name"), "hash");
    await page.goBack();
    await eventually("back", () => page.textContent("#method-name"), "join");
    await page.goto("about:blank");
    await page.goto(link);
    await eventually("a link shows the same", () => page.textContent("#method-sums"), /with callees 2\.00 s .*, cost 0\.20/);
    await page.click("#in-flame");
    await eventually("only its stacks", async () => page.frameLocator("#picture").locator("#status").textContent(), /^cpu: 2\.00 s /);
    assert.deepEqual(problems, []);
    await close();
});

for (const colorScheme of ["light", "dark"]) {
    test(`a regression is marked, explained and compared in ${colorScheme}`, async () => {
        const { page, problems, close } = await open("group=etl", { colorScheme });
        assert.deepEqual(await page.locator("#applications tr", { has: page.locator(".mark") }).locator("button.link").allTextContents(), ["run-2"]);
        await page.click(".mark");
        await eventually("the verdict", () => page.textContent("#verdict"), "Regression");
        assert.equal(await page.textContent("#verdict-text"), "CPU time: 4.50 times as much as the run before.");
        assert.deepEqual((await cells(page, "change-table")).map((row) => [row[0], row[2], row[3], row[4], row[6]]), [
            ["the whole run", "2.00 s", "9.00 s", "× 4.50", "regression"], ["hash", "1.00 s", "8.00 s", "× 8.00", "regression"]]);
        assert.deepEqual((await cells(page, "run-table")).map((row) => row[0]), ["run-2", "run-1"]);
        const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.equal(background, colorScheme === "dark" ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)");
        await page.click("#compare-flames");
        await eventually("the frame compares", () => page.getAttribute("#picture", "src"), /\/v1\/difference\?.*against_application=run-1/);
        await page.goBack();
        await page.click("#run-table button.link");
        await eventually("the first run has none before", () => page.textContent("#verdict-text"), /^Nothing to compare with: no run of nightly/);
        assert.deepEqual(problems, []);
        await close();
    });
}

test("the regressions of a group are listed, also where there are none", async () => {
    const { page, problems, close } = await open("group=etl&view=regressions");
    await eventually("one", () => cells(page, "regression-table"), (rows) => rows.length === 1 && rows[0][0] === "run-2" && rows[0][5] === "hash");
    assert.match(await page.textContent("#checked"), /^2 applications were compared/);
    await page.selectOption("#group", "memory");
    await page.click("#view-regressions");
    await eventually("none", () => page.textContent("#regressions"), /None was found\./);
    assert.deepEqual(problems, []);
    await close();
});

test("memory over time, by JVM and by class", async () => {
    const { page, problems, close } = await open("group=memory&view=heap");
    await eventually("a curve", () => page.locator("#heap-chart path.line.used").count(), (count) => count > 0);
    assert.match(await page.getAttribute("#heap-chart", "aria-label"), /^Heap of up to 1 JVMs together: at most 43\.7 MiB used/);
    assert.deepEqual((await cells(page, "heap-processes")).map((row) => row.slice(0, 3)), [["1", "heap", "43.7 MiB"]]);
    assert.equal((await cells(page, "heap-types"))[0][0], "java.lang.String[]");
    await page.click("#heap-processes button.link");
    await eventually("its executor is chosen", () => page.url(), /application=heap&executor=1/);
    await page.selectOption("#group", "etl");
    await page.click("#view-heap");
    await eventually("nothing recorded", () => page.textContent("#no-heap"), /^No memory was recorded/);
    assert.deepEqual(problems, []);
    await close();
});

test("names that look like script are text, and what fails is said", async () => {
    const { page, problems, close } = await open(`group=etl&view=methods&search=${encodeURIComponent("<img")}`);
    await eventually("the name", async () => (await cells(page, "method-table"))[0]?.[0], BAD);
    await page.click("#method-table button.link");
    await eventually("its page", () => page.textContent("#method-name"), BAD);
    assert.equal(await page.evaluate(() => window.pwned ?? 0), 0);
    assert.deepEqual(problems, []);
    await page.goto(`${address}/#group=etl&view=methods&method=none`);
    await eventually("the reason", () => page.textContent("#panel"), /no sample has this method/);
    await close();
});

test("everything is reached by keys", async () => {
    const { page, problems, close } = await open("group=etl");
    await page.keyboard.press("2");
    await eventually("hot spots", () => chosen(page), "Hot spots");
    await page.keyboard.press("j");
    await eventually("the first application", () => page.textContent("#what"), "run-2");
    await page.keyboard.press("j");
    await eventually("the second", () => page.textContent("#what"), "run-1");
    await page.keyboard.press("4");
    await eventually("regressions", () => chosen(page), "Regressions");
    await page.keyboard.press("/");
    await page.keyboard.type("2");
    await eventually("typed, not a view", () => page.locator("#applications button.link").allTextContents(), ["run-2"]);
    assert.equal(await chosen(page), "Regressions");
    await page.locator("#what").click();
    await page.keyboard.press("?");
    await eventually("the list of keys", () => page.evaluate(() => document.getElementById("keys").open), true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("d");
    await eventually("dark", () => page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.deepEqual(problems, []);
    await close();
});

test("on a phone nothing is wider than the screen", async () => {
    for (const view of ["methods", "regressions&application=run-2", "heap", "methods&method=hash"]) {
        const { page, problems, close } = await open(`group=etl&view=${view}`, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
        await eventually("the panel is filled", () => page.evaluate(() => document.getElementById("busy").hidden && document.getElementById("panel").textContent !== ""), true);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= 390, view);
        assert.deepEqual(problems, []);
        await close();
    }
});
