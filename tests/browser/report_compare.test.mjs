// Two runs in one page: stages side by side, difference flame graphs of all samples and of a stage.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
const data = join(ROOT, "tests", "data");
let browser;

before(async () => {
    // Half of the stages have another name there.
    const log = readFileSync(join(data, "event_log", "single"), "utf8").replaceAll("count at /job/make_event_log.py:43", "count at /job/make_event_log.py:99")
        .replaceAll("reduceByKey at", "groupByKey at");
    scratch.write("other", log);
    sparkflame(["report", join(data, "event_log", "single"), join(data, "report"), "--against", scratch.path("other"),
                "--against", join(data, "report", "driver.000001.jfr"), "-o", scratch.path("report.html")]);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

test("a run is compared with the median of earlier ones", async () => {
    const single = join(data, "event_log", "single");
    const earlier = ["1", "2", "3"].map((number) => scratch.write(`before-${number}`, readFileSync(single, "utf8").replace('"App ID":"', `"App ID":"before-${number}-`)
        .replaceAll(/"Executor Run Time":\d+/g, '"Executor Run Time":10')));
    sparkflame(["report", single, "-o", scratch.path("earlier.html"), "--baseline", ...earlier]);
    const { page, problems, close } = await openPage(browser, pathToFileURL(scratch.path("earlier.html")).href);
    assert.match(await page.textContent("#baseline-verdict"), /^This run took .*, the median of 3 earlier runs .*\d of the application, its queries, stages and methods are slower/);
    const rows = await page.locator("#baseline-table tbody tr").evaluateAll((found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(rows[0].slice(0, 5).map((text) => text.replace(/ .*/, "")), ["–", "–", "application", "event", "slower"]);
    const stage = rows.findIndex((row) => row[2] === "stage");
    await page.click(`#baseline-table tbody tr:nth-child(${stage + 1}) .link`);
    assert.match(await page.textContent("#stage-title"), new RegExp(`^Stage ${rows[stage][0].replace(".", "\\.")}: `));
    assert.deepEqual(problems, []);
    await close();
});

for (const colorScheme of ["light", "dark"]) {
    test(`two runs are compared in ${colorScheme}`, async () => {
        const { page, problems, close } = await openPage(browser, pathToFileURL(scratch.path("report.html")).href, { colorScheme });
        await eventually("the samples are shown", () => page.evaluate(() => document.querySelector("#flames")?.dataset.ready ?? ""), "1");
        const status = (inside) => page.textContent(`${inside} #status`);
        assert.match(await status("#flames"), /^cpu: 220 samples/);
        const rows = await page.locator("#comparison-table tbody tr").evaluateAll((found) => found.map((row) => [...row.cells].map((cell) => cell.textContent)));
        assert.deepEqual(rows.map((row) => row.slice(0, 2).join(" ")), ["0.0 –", "1.0 1.0", "2.0 2.0", "3.0 3.0", "4.0 4.0", "6.0 6.0", "7.0 7.0", "– 0.0"]);
        assert.equal(rows[0][4], "new");
        assert.equal(rows[7][4], "gone");
        await page.click("#difference button");
        await eventually("all samples of both", async () => /^cpu: 220 → 220 samples/.test(await status("#difference")), true);
        await page.click("#comparison-table tbody tr:nth-child(3) .link");
        await page.click("#stage-flames [data-view=against]");
        await eventually("a stage of both", async () => /^cpu: 70 → 70 samples/.test(await status("#stage-flames")), true);
        assert.ok((await page.screenshot({ fullPage: true })).length > 20_000);
        assert.deepEqual(problems, []);
        await close();
    });
}
