// What is compared with two clicks, and Java and Python in one stack.
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
    sparkflame(["report", join(data, "event_log", "single"), join(data, "report_python"), "-o", scratch.path("python.html")]);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

async function open(name, hash = "") {
    const opened = await openPage(browser, pathToFileURL(scratch.path(name)).href + hash);
    await eventually("the samples are shown", () => opened.page.evaluate(() => document.querySelector("#flames")?.dataset.ready ?? ""), "1");
    return opened;
}

const shows = (page, wanted, inside = "#flames") =>
    eventually(`${inside} shows ${wanted}`, async () => wanted.test(await page.textContent(`${inside} #status`)), true);
const compared = (page) => page.evaluate(() => document.querySelector("#flames").dataset.compared ?? "");

test("two stages, tasks, executors or times are compared with two clicks", async () => {
    const { page, problems, close } = await open("report.html");
    await page.click('[aria-label="Compare stage 1.0 with …"]');
    assert.match(await page.textContent("#picked"), /^stage 1\.0 compared with …/);
    await page.click('[aria-label="Compare stage 2.0 with …"]');
    await eventually("the difference", () => compared(page), "stage 1.0 / stage 2.0");
    await shows(page, /^cpu: 30 → 70 samples/);
    assert.equal(await page.isHidden("#picked"), true);
    await page.locator("#flames .choice", { hasText: "Swap" }).click();
    await shows(page, /^cpu: 70 → 30 samples/);
    await page.click("#stage-table tbody tr:nth-child(3) .link");
    await page.locator("#slowest .compare").nth(0).click();
    await page.locator("#slowest .compare").nth(1).click();
    await shows(page, /^cpu: 40 → 10 samples/);
    await page.click('[aria-label="Compare executor 0 with …"], [aria-label="Compare driver with …"]');
    await page.click('[aria-label="Compare stage 2.0 with …"]');
    await shows(page, /^cpu: 220 → 70 samples/);
    await page.locator("#flames .choice", { hasText: "Back to all samples" }).click();
    await shows(page, /^cpu: 220 samples/);
    assert.deepEqual(problems, []);
    await close();
});

test("ranges of the timeline have a flame graph and are compared", async () => {
    const { page, problems, close } = await open("report.html");
    const canvas = page.locator("#timeline canvas");
    assert.equal(await page.isHidden("#range"), true);
    await canvas.focus();
    for (const key of ["+", "+"]) await page.keyboard.press(key);
    await eventually("the range is named", () => page.textContent("#range .label"), /^\+.* to \+/);
    const inside = Number(/^cpu: (\d+)/.exec(await eventually("fewer samples", () => page.textContent("#flames #status"), (text) => /^cpu: (?!220 )\d+/.test(text)))[1]);
    await page.locator("#range .choice", { hasText: "Flame graph of this time" }).click();
    await page.locator("#range .compare").click();
    await page.keyboard.press("Escape");
    await page.locator("#range .choice", { hasText: "Show all" }).click();
    await page.click('[aria-label="Compare stage 2.0 with …"]');
    await eventually("the difference", () => compared(page), /^\+.* \/ stage 2\.0$/);
    await shows(page, new RegExp(`^cpu: ${inside} → 70 samples`));
    assert.deepEqual(problems, []);
    await close();
});

/** What the command says of the same stacks: "method;method count". */
const folded = (...options) => sparkflame(["flame", join(data, "report_python"), "-e", "cpu", "--bare-names", "-f", "folded", ...options]).toString().trim().split("\n").sort();

test("Python is below Java, as with --stitch, until it is switched off", async () => {
    const { page, problems, close } = await open("python.html", "#stage=4.0");
    const stacks = async (inside) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`${inside} #export`).selectOption("folded")]);
        const chunks = [];
        for await (const chunk of await download.createReadStream()) chunks.push(chunk);
        return Buffer.concat(chunks).toString().trim().split("\n").sort();
    };
    const plain = (lines) => lines.map((line) => line.replaceAll("/", "."));
    await shows(page, /^cpu: 12 samples/);
    assert.deepEqual(plain(await stacks("#flames")), plain(folded("--stitch")));
    await shows(page, /^cpu: 12 samples/, "#stage-flames");
    assert.match((await stacks("#stage-flames")).join(), /PythonRunner/);
    await page.locator("#flames .join").click();
    await eventually("it is off", () => page.getAttribute("#flames .join", "aria-pressed"), "false");
    assert.deepEqual(plain(await stacks("#flames")), plain(folded()));
    await eventually("the stage follows", () => page.getAttribute("#stage-flames .join", "aria-pressed"), "false");
    assert.doesNotMatch((await stacks("#stage-flames")).join(), /PythonRunner/);
    assert.deepEqual(problems, []);
    await close();
});
