// SVG pictures in a real browser: as wide as the window, zoom, search, keys, and the state in the address.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, scratchFolder, serve, sparkflame } from "./browser.mjs";

const FOLDED = "main;load;parse 20\nmain;load;read 20\nmain;compute;parse 30\nmain;compute 10\nother;idle 20\n";
const scratch = scratchFolder();
let browser;
let server;

before(async () => {
    const folded = scratch.write("in.folded", FOLDED);
    sparkflame(["flame", folded, "-o", scratch.path("fluid.svg")]);
    sparkflame(["flame", folded, "--width", "800", "-o", scratch.path("fixed.svg")]);
    sparkflame(["flame", folded, "--inverted", "-o", scratch.path("icicle.svg")]);
    const inline = (name) => String(sparkflame(["flame", folded, "--title", name, "-f", "svg"])).replace(/^<\?xml.*?\?>/, "");
    scratch.write("two.html", `<!DOCTYPE html><meta charset="utf-8"><body>${inline("One")}${inline("Two")}</body>`);
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

/** Visible boxes of the n-th picture: name → left edge and width in shares of the boxes' room. */
function boxes(page, picture = 0) {
    return page.evaluate((index) => {
        const frames = document.querySelectorAll("svg.frames")[index];
        const found = {};
        for (const group of frames.children) {
            if (group.classList.contains("hidden")) continue;
            const name = group.querySelector("title").textContent.replace(/ \(.*/, "");
            const rect = group.querySelector("rect");
            const share = (key) => Math.round(parseFloat(rect.getAttribute(key)) * 10) / 10;
            const entry = { x: share("x"), width: share("width"), caller: group.classList.contains("caller"),
                            found: group.classList.contains("found") };
            (found[name] ??= []).push(entry);
        }
        return found;
    }, picture);
}

const text = (page, name) => page.evaluate((part) => document.querySelector(`.${part}`).textContent.trim(), name);

function clickBox(page, name, picture = 0) {
    return page.evaluate(([wanted, index]) => {
        const frames = document.querySelectorAll("svg.frames")[index];
        const group = [...frames.children].find((each) => each.querySelector("title").textContent.startsWith(`${wanted} (`));
        group.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
    }, [name, picture]);
}

async function open(name, query = "", options = {}) {
    const opened = await openPage(browser, server.address(name) + query, options);
    await eventually("boxes are there", async () => Object.keys(await boxes(opened.page)).length, (count) => count >= 4);
    return opened;
}

/** Answers the prompt of the next search. */
function answer(page, reply) {
    page.once("dialog", (dialog) => dialog.accept(reply));
}

test("a picture is as wide as the window, also after a change", async () => {
    const { page, problems, close } = await open("fluid.svg");
    const width = () => page.evaluate(() => Math.round(document.documentElement.getBoundingClientRect().width));
    await eventually("width", width, 1200);
    await page.setViewportSize({ width: 700, height: 600 });
    await eventually("width after a change", width, 700);
    assert.deepEqual(problems, []);
    await close();
});

test("a fixed width stays", async () => {
    const { page, problems, close } = await open("fixed.svg");
    assert.equal(await page.evaluate(() => document.documentElement.getAttribute("width")), "800");
    assert.deepEqual(problems, []);
    await close();
});

test("it opens from disk", async () => {
    const { page, problems, close } = await openPage(browser, pathToFileURL(scratch.path("fluid.svg")).href);
    await eventually("boxes are there", async () => Object.keys(await boxes(page)).length, (count) => count >= 4);
    await clickBox(page, "compute");
    await eventually("zoomed", async () => (await boxes(page)).compute[0].width, 100);
    assert.deepEqual(problems, []);
    await close();
});

for (const name of ["fluid.svg", "icicle.svg"]) {
    test(`${name}: a click zooms, callers stay, others go, and Reset Zoom comes back`, async () => {
        const { page, problems, close } = await open(name);
        await clickBox(page, "compute");
        await eventually("compute fills the picture", async () => (await boxes(page)).compute[0].width, 100);
        const seen = await boxes(page);
        assert.deepEqual(Object.keys(seen).sort(), ["all", "compute", "main", "parse"]);
        assert.ok(seen.main[0].caller && seen.all[0].caller && !seen.compute[0].caller);
        assert.deepEqual(seen.parse.map((box) => [box.x, box.width]), [[25, 75]]);
        await page.evaluate(() => document.querySelector(".reset").dispatchEvent(new MouseEvent("click")));
        await eventually("all is back", async () => Object.keys(await boxes(page)).length, 8);
        assert.deepEqual(problems, []);
        await close();
    });
}

test("search by regular expression marks boxes and counts nested ones once", async () => {
    const { page, close } = await open("fluid.svg");
    answer(page, "load|parse");
    await page.evaluate(() => document.querySelector(".search").dispatchEvent(new MouseEvent("click")));
    await eventually("matched", () => text(page, "matched"), "Matched: 70.0%");
    const seen = await boxes(page);
    assert.ok(seen.parse.every((box) => box.found) && seen.load[0].found && !seen.main[0].found);
    await close();
});

test("Ctrl-I ignores case, a bad expression is said", async () => {
    const { page, close } = await open("fluid.svg");
    answer(page, "PARSE");
    await page.keyboard.press("Control+f");
    await eventually("no match", () => text(page, "matched"), "Matched: 0.0%");
    await page.keyboard.press("Control+i");
    await eventually("match", () => text(page, "matched"), "Matched: 50.0%");
    await page.keyboard.press("Escape");
    answer(page, "(");
    await page.keyboard.press("F3");
    await eventually("message", () => text(page, "details"), /Bad regular expression/);
    await close();
});

test("Escape ends the search first, then the zoom", async () => {
    const { page, close } = await open("fluid.svg");
    await clickBox(page, "main");
    answer(page, "read");
    await page.keyboard.press("Control+f");
    await eventually("matched", () => text(page, "matched"), /25/);
    await page.keyboard.press("Escape");
    await eventually("search is over", () => text(page, "matched"), "");
    assert.ok(!("idle" in await boxes(page)));
    await page.keyboard.press("Escape");
    await eventually("zoom is over", async () => "idle" in await boxes(page), true);
    await close();
});

test("the address keeps zoom and search", async () => {
    const first = await open("fluid.svg");
    await clickBox(first.page, "load");
    answer(first.page, "read");
    await first.page.keyboard.press("Control+f");
    await eventually("address", () => first.page.url(), /x=.*y=.*s=read/);
    const query = new URL(first.page.url()).search;
    await first.close();
    const second = await open("fluid.svg", query);
    await eventually("zoomed again", async () => (await boxes(second.page)).load[0].width, 100);
    await eventually("searched again", () => text(second.page, "matched"), "Matched: 50.0%");
    await second.close();
});

test("arrows walk over boxes, Enter zooms", async () => {
    const { page, close } = await open("fluid.svg");
    for (const key of ["ArrowUp", "ArrowUp", "ArrowRight", "ArrowLeft", "ArrowUp"]) await page.keyboard.press(key);
    await eventually("focus", () => text(page, "details"), /^Function: compute \(40 samples, 40.00%/);
    await page.keyboard.press("Enter");
    await eventually("zoomed", async () => (await boxes(page)).compute[0].width, 100);
    await close();
});

test("several pictures on one page do not disturb each other", async () => {
    const { page, problems, close } = await openPage(browser, server.address("two.html"));
    await eventually("both are there", () => page.evaluate(() => document.querySelectorAll("svg.frames").length), 2);
    await clickBox(page, "compute", 1);
    await eventually("the second is zoomed", async () => (await boxes(page, 1)).compute[0].width, 100);
    assert.equal((await boxes(page, 0)).compute[0].width, 40);
    assert.deepEqual(problems, []);
    await close();
});

test("without scripts it still shows every box and its title", async () => {
    const { page, close } = await openPage(browser, server.address("fixed.svg"), { javaScriptEnabled: false });
    assert.equal(await page.locator("svg.frames > g").count(), 9);
    await close();
});
