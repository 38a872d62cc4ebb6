// The page of an application that has not ended: how far it is, and a page that follows it.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
let browser, rest;

before(async () => {
    const lines = readFileSync(join(ROOT, "tests", "data", "event_log", "single"), "utf8").split(/(?<=\n)/);
    const end = lines.findIndex((line) => line.includes("SparkListenerTaskEnd")) + 1;
    scratch.write("app-1.inprogress", lines.slice(0, end).join(""));
    rest = lines.slice(end).join("");
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

test("a page follows its application to the end", async () => {
    const log = scratch.path("app-1.inprogress"), file = scratch.path("live.html");
    const program = spawn(process.env.SPARKFLAME ?? join(ROOT, "build", "sparkflame"), ["report", "-q", "--watch", "1", log, "-o", file], { stdio: "ignore" });
    const ended = new Promise((done) => program.on("exit", done));
    try {
        await eventually("the page is written", () => existsSync(file), true);
        const { page, problems, close } = await openPage(browser, pathToFileURL(file).href);
        await eventually("progress", () => page.textContent("#progress"), /^Not ended; last event .*job 0: 1 of 7 tasksstage 0\.0: 1 of 4 tasks, about .* left at this pace.*every 1 s/);
        assert.equal(await page.locator("#progress progress").last().evaluate((bar) => bar.value / bar.max), 0.25);
        appendFileSync(log, rest);
        renameSync(log, scratch.path("app-1"));
        await eventually("the application has ended", () => page.locator("#progress").count(), 0);
        await eventually("all stages are there", () => page.locator("#stage-table tbody tr").count(), 7);
        assert.equal(await ended, 0);
        assert.deepEqual(problems, []);
        await close();
    } finally {
        program.kill();
    }
});

test("a page that is not followed stays as it is", async () => {
    scratch.write("cut", readFileSync(scratch.path("app-1"), "utf8").split(/(?<=\n)/).slice(0, -1).join(""));
    sparkflame(["report", "-q", scratch.path("cut"), "-o", scratch.path("still.html")]);
    const { page, close } = await openPage(browser, pathToFileURL(scratch.path("still.html")).href);
    assert.match(await page.textContent("#progress"), /^Not ended; last event/);
    assert.doesNotMatch(await page.textContent("#progress"), /read again/);
    await close();
});
