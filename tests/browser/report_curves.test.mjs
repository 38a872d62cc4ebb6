// Metrics below the timeline of a report: drawn, told by the hint, zoomed with the tasks; marks of errors.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
const data = join(ROOT, "tests", "data");
const log = join(data, "event_log", "single");
let browser;

/** Records of a JVM and a Python worker all along the application. */
function records(start, end) {
    const lines = [];
    for (let i = 0; i <= 20; i++) {
        const epochMillis = Math.round(start + (end - start) * i / 20);
        lines.push({ epochMillis, name: "7@host", role: "executor", processCpuTime: i * 5e8, heapMemoryTotalUsed: 1 << 20 + i % 4, vmRSS: 3e8,
                     nonHeapMemoryTotalUsed: 1e7, gc: [{ name: "old", collectionTime: i * 10 }] },
                   { pid: 42, epochMillis, pmem_rss: 2e7 + i * 1e6, pmem_vms: 4e8, cpu_percent: 80 });
    }
    return lines.map((line) => JSON.stringify(line)).join("\n");
}

before(async () => {
    const { application } = JSON.parse(sparkflame(["report", "-f", "json", log]));
    scratch.write("records.json", records(application.start_ms, application.end_ms));
    sparkflame(["report", log, join(data, "spark_log", "driver.log"), scratch.path("records.json"), "-o", scratch.path("report.html")]);
    sparkflame(["report", scratch.path("records.json"), "-o", scratch.path("metrics.html")]);
    browser = await launch();
});

after(async () => {
    await browser?.close();
    scratch.remove();
});

async function open(name, options = {}) {
    const opened = await openPage(browser, pathToFileURL(scratch.path(name)).href, options);
    await eventually("the page is ready", () => opened.page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    return opened;
}

/** Pixels of the lower part of the timeline that are neither empty nor grey. */
const coloured = (page) => page.evaluate(() => {
    const canvas = document.querySelector("#timeline canvas");
    const pixels = canvas.getContext("2d").getImageData(90, canvas.height - 380, canvas.width - 90, 380).data;
    let found = 0;
    for (let i = 0; i < pixels.length; i += 4) found += pixels[i + 3] > 0 && Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 40;
    return found;
});

for (const colorScheme of ["light", "dark"]) {
    test(`curves are drawn and told in ${colorScheme}`, async () => {
        const { page, problems, close } = await open("report.html", { colorScheme });
        await eventually("curves are drawn", async () => await coloured(page) > 500, true);
        const canvas = page.locator("#timeline canvas");
        assert.match(await canvas.getAttribute("aria-label"), /active tasks, CPU, heap, off-heap, GC, RSS of JVMs, RSS of Python$/);
        const { width, height } = await canvas.boundingBox();
        const hints = [];
        for (let y = height - 380; y < height - 20; y += 40) {
            await canvas.hover({ position: { x: width * 0.6, y } });
            if (await page.isVisible("#hint")) hints.push(await page.textContent("#hint"));
        }
        for (const wanted of [/^active tasks at \+/, /^CPU at \+.*7@host/, /^heap at .*MiB|^heap at .*KiB/, /^GC at .*%/, /^RSS of Python at .*Python 42/]) {
            assert.ok(hints.some((hint) => wanted.test(hint)), `${wanted}: ${JSON.stringify(hints)}`);
        }
        assert.deepEqual(problems, []);
        await close();
    });
}

test("metrics alone make a timeline", async () => {
    const { page, problems, close } = await open("metrics.html");
    await eventually("curves are drawn", async () => await coloured(page) > 500, true);
    assert.deepEqual(problems, []);
    await close();
});
