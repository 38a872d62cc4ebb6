// The page of a fleet: all its sections, from disk, in light and dark, on a phone and on paper; names are text.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
let browser, found;

before(async () => {
    const input = join(ROOT, "tests", "data", "fleet", "weeks.part");
    sparkflame(["fleet", "--price-core-hour", "0.5", input, "-o", scratch.path("fleet.html")]);
    found = JSON.parse(sparkflame(["fleet", "--price-core-hour", "0.5", "-f", "json", input]));
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

async function open(options = {}) {
    const opened = await openPage(browser, pathToFileURL(scratch.path("fleet.html")).href, options);
    await eventually("the page is ready", () => opened.page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    return opened;
}

const count = (page, selector) => page.locator(selector).count();
const texts = (page, selector) => page.locator(selector).allTextContents();

for (const colorScheme of ["light", "dark"]) {
    test(`shows all sections with content in ${colorScheme}`, async () => {
        const { page, problems, close } = await open({ colorScheme });
        assert.deepEqual(await page.locator("main section").evaluateAll((all) => all.map((one) => one.id)),
            ["summary", "groups", "slower", "methods-cpu", "methods-wall", "methods-alloc", "applications", "notes"]);
        assert.match(await page.textContent("#summary"), /days2026-10-20 to 2026-11-02groups\d+applications\d+executors\d+/);
        assert.deepEqual(await texts(page, "#group-table tbody td:first-child"), found.groups.map((row) => row.group));
        assert.equal(await count(page, "#group-table svg.trend path"), found.groups.length);
        assert.deepEqual(await texts(page, "#slower-table tbody td:nth-child(2)"), ["org/example/Parse.line"]);
        const row = found.slower[0], percent = (share) => `${(100 * share).toFixed(2)} %`;
        assert.deepEqual((await texts(page, "#slower-table tbody td")).slice(2, 5), [percent(row.self_before), percent(row.self_now), row.z.toFixed(1)]);
        assert.match(await page.textContent("#few-runs"), /Too few runs to compare: .*\(1 before, 1 now\)/);
        assert.deepEqual(await texts(page, "#cpu-table tbody td:first-child"), found.methods.filter((method) => method.event === "cpu").map((method) => method.method));
        assert.match(await page.getAttribute("#cpu-table svg.trend", "aria-label"), /^2026-10-20: \d+\.\d\d %; 2026-11-02: \d+\.\d\d %; at most \d+\.\d\d %$/);
        assert.equal(await count(page, "#application-table tbody tr"), found.applications.length);
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor) === "rgb(255, 255, 255)", colorScheme === "light");
        assert.deepEqual(problems, []);
        await close();
    });
}

test("script in names is text", async () => {
    const { page, problems, close } = await open();
    assert.equal(await page.title(), "Fleet");
    assert.ok((await texts(page, "#group-table tbody td:first-child")).includes("<script>alert(1)</script> & co"));
    assert.ok((await texts(page, "#cpu-table tbody td:first-child")).includes("</script><script>document.title='bad'</script>.run"));
    assert.equal(await count(page, "main script"), 0);
    assert.deepEqual(problems, []);
    await close();
});

test("tables sort, and commands open, by keyboard", async () => {
    const { page, problems, close } = await open();
    const first = () => page.textContent("#cpu-table tbody tr:first-child td:first-child");
    await page.locator("#cpu-table th button", { hasText: "method" }).focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.getAttribute("#cpu-table th:first-child", "aria-sort"), "ascending");
    assert.match(await first(), /^<\/script>/);
    const command = page.locator("#slower-table .command summary");
    await command.focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("#slower-table .command code").isVisible(), true);
    assert.equal(await page.textContent("#slower-table .command code"), found.slower[0].command);
    await page.locator("#slower-table .command button").focus();
    await page.keyboard.press("Enter");
    await eventually("it is copied or not", () => page.textContent("#slower-table .command [role=status]"), /copied$/);
    await page.click("#theme");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.deepEqual(problems, []);
    await close();
});

test("on a phone nothing is cut off", async () => {
    const { page, problems, close } = await open({ viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const cut = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((one) => !one.closest(".table, pre, .off-screen"))
        .filter((one) => one.getBoundingClientRect().right > 391).map((one) => one.outerHTML.slice(0, 80)));
    assert.deepEqual(cut, []);
    assert.deepEqual(problems, []);
    await close();
});

test("paper is white, without controls", async () => {
    const { page, problems, close } = await open({ colorScheme: "dark", viewport: { width: 760, height: 1000 } });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.ok((await page.pdf({ format: "A4" })).length > 10_000);
    await page.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    for (const selector of ["nav", "#theme", ".skip"]) assert.equal(await page.locator(selector).first().isVisible(), false, selector);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    assert.deepEqual(problems, []);
    await close();
});
