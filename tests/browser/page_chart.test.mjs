// The flame chart of the page: time from left to right, a lane per thread.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { eventually, launch, scratchFolder, serve, sparkflame } from "./browser.mjs";
import { Page } from "./page_driver.mjs";

const CHART = "#view-chart .flame canvas";
const scratch = scratchFolder();
let browser;
let server;

/** A sample each 10 ms: worker 1 parses for 0.5 s, then writes for 0.5 s; worker 2 writes from 0.25 s on, but pauses
 * from 0.5 s to 0.75 s. */
function perfText() {
    const samples = [];
    for (let i = 0; i < 100; i++) {
        samples.push([i, "worker-1", 11, i < 50 ? ["parse", "main"] : ["flush", "write", "main"]]);
        if (i >= 25 && (i < 50 || i >= 75)) samples.push([i, "worker-2", 12, ["flush", "write", "main"]]);
    }
    return samples.map(([at, name, thread, stack]) => `${name} 10/${thread} ${(100 + at / 100).toFixed(6)}: 10000000 cpu-clock:\n` +
        stack.map((frame) => `\t7f0000 ${frame}+0x1 (/bin/x)\n`).join("")).join("\n") + "\n";
}

before(async () => {
    const input = scratch.write("threads.txt", perfText());
    sparkflame(["flame", input, "--flamechart", "-o", scratch.path("chart.html")]);
    sparkflame(["flame", input, "-o", scratch.path("graph.html")]);
    sparkflame(["flame", scratch.write("order.folded", "b;y 2\na;x 6\nb;z 2\n"), "--flamechart", "-o", scratch.path("order.html")]);
    sparkflame(["flame", scratch.path("order.folded"), "-o", scratch.path("timeless.html")]);
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

function pageTest(what, name, body) {
    test(what, async () => {
        const [file, hash] = name.split("#");
        const it = await Page.open(browser, server.address(file) + (hash ? `#${hash}` : ""));
        it.at = (level, share) => it.place(level, share, CHART);
        it.hoverAt = async (level, share) => {
            const { x, y } = await it.at(level, share);
            await it.page.mouse.move(x, y);
        };
        await body(it);
        assert.deepEqual(it.problems, []);
        await it.close();
    });
}

/** Boxes without the root and the name of the thread, which perf has as its outermost frame. */
const boxesOf = async (it) => (await it.boxes()).filter((box) => !/^0 |^2 worker/.test(box));
const BOXES = ["1 thread worker-1 1.00 s 0 ns", "3 main 1.00 s 0 ns", "4 parse 500 ms 500 ms", "4 write 500 ms 0 ns", "5 flush 500 ms 500 ms",
               "1 thread worker-2 500 ms 0 ns", "3 main 250 ms 0 ns", "3 main 250 ms 0 ns", "4 write 250 ms 0 ns", "4 write 250 ms 0 ns",
               "5 flush 250 ms 250 ms", "5 flush 250 ms 250 ms"];
const LANE_2 = 6;

pageTest("--flamechart opens it: a lane per thread, time from left to right, gaps where a thread slept", "chart.html", async (it) => {
    await eventually("boxes", () => boxesOf(it), BOXES);
    assert.equal(await it.page.textContent("#title"), "Flame chart");
    assert.equal(await it.page.getAttribute("#tab-chart", "aria-selected"), "true");
    await it.hoverAt(4, 0.25);
    await it.expectText("hint", "#hint", /^parse.*Time0 s – 0.5 s · 500 msTotal500 ms · 33.33 % of allSelf500 ms.*Of parent50.00 % of main/);
    await it.hoverAt(4, 0.75);
    await it.expectText("hint", "#hint", /^write.*Time0.5 s – 0.99\d* s · 49\d ms/);
    await it.hoverAt(LANE_2 + 3, 0.4);
    await it.expectText("hint", "#hint", /^write.*Time0.25 s – 0.5\d* s/);
    await it.hoverAt(LANE_2 + 3, 0.65);
    await eventually("worker 2 slept", () => it.page.isHidden("#hint"), true);
    for (const gone of ["icicle", "reverse", "order"]) assert.equal(await it.page.isHidden(`#${gone}`), true, gone);
});

pageTest("a click shows only the time of a box, in every view; Back, the axis, Reset and keys lead out", "graph.html", async (it) => {
    await it.page.click("#tab-chart");
    await it.expectHash("address", /tab=chart/);
    const { x, y } = await it.at(4, 0.25);
    await it.page.mouse.click(x, y);
    await it.expectText("chip", ".chips", /^time 0 s – 0.5 s/);
    await eventually("half of it", () => boxesOf(it), ["1 thread worker-1 500 ms 0 ns", "3 main 500 ms 0 ns", "4 parse 500 ms 500 ms",
        "1 thread worker-2 250 ms 0 ns", "3 main 250 ms 0 ns", "4 write 250 ms 0 ns", "5 flush 250 ms 250 ms"]);
    await it.page.keyboard.press("1");
    await eventually("the flame graph has the same time", () => it.page.textContent("#status"), /750 ms/);
    await it.page.click("#tab-chart");
    await it.page.click("#back");
    await it.page.click("#back");
    await it.page.click("#back");
    await eventually("all of it", () => boxesOf(it), BOXES);
    await it.page.mouse.click(x, y);
    await it.expectText("chip", ".chips", /^time/);
    const axis = await it.at(0, 0.5);
    await it.page.mouse.click(axis.x, axis.y);
    await eventually("all of it", () => boxesOf(it), BOXES);
    await it.page.focus(CHART);
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await it.page.keyboard.press(key);
    await it.expectText("the widest box below each", ".chips", /^time 0 s – 0.5 s/);
    await it.page.click("#reset");
    await eventually("all of it", () => boxesOf(it), BOXES);
});

pageTest("search, filters, groups, colours and the menu work there too", "chart.html", async (it) => {
    await it.page.fill("#search", "^flush$");
    await it.expectText("matched", "#search-result", "66.67 % matched, 3 boxes");
    await it.page.keyboard.press("Enter");
    await it.expectText("first", "#search-result", /1 of 3$/);
    await it.page.fill("#search", "");
    await it.page.selectOption("#color", "label:thread");
    await eventually("colours of threads differ", async () => {
        const [one, other] = [await it.color(3, 0.25, CHART), await it.color(LANE_2 + 3, 0.4, CHART)];
        return one.join() !== other.join();
    }, true);
    await it.expectText("legend", "#legend", "worker-1worker-2");
    const { x, y } = await it.at(4, 0.25);
    await it.page.mouse.click(x, y, { button: "right" });
    await it.page.click("#menu [data-item=remove]");
    await it.expectText("chip", ".chips", /^removed: parse/);
    await eventually("gone from all lanes", () => it.boxes(), (boxes) => boxes.length > 0 && !boxes.some((box) => box.includes("parse")));
    const folded = await it.download(() => it.page.selectOption("#export", "folded"));
    assert.match(folded.bytes.toString(), /^thread worker-1;worker-1;main;write;flush 500000000\n(thread worker-2;worker-2;main;write;flush 250000000\n){2}$/);
    const svg = await it.download(() => it.page.selectOption("#export", "svg"));
    assert.match(svg.bytes.toString(), /<svg [\s\S]*worker-2[\s\S]*flush/);
    const png = await it.download(() => it.page.selectOption("#export", "png"));
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
});

pageTest("without times the order of lines stands for them, the newest first", "order.html", async (it) => {
    await it.expectBoxes("boxes", ["0 all of the time 10 0", "1 b 2 0", "1 a 6 0", "1 b 2 0", "2 z 2 2", "2 x 6 6", "2 y 2 2"]);
    await it.hoverAt(2, 0.5);
    await it.expectText("hint", "#hint", /^xTimesamples 2 – 8Total6/);
});

pageTest("a profile without times has no chart", "timeless.html#tab=chart", async (it) => {
    assert.equal(await it.page.locator("#tab-chart").count(), 0);
    assert.equal(await it.page.isVisible("#view-flame"), true);
});
