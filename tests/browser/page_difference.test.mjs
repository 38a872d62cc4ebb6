// The comparison of two profiles.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { eventually, launch, scratchFolder, serve, sparkflame } from "./browser.mjs";
import { Page } from "./page_driver.mjs";

// Before 100, after 200: a grows, gone vanishes, new appears, same keeps its share.
const BEFORE = "main;a 10\nmain;gone 40\nmain;same 50\n";
const AFTER = "main;a 60\nmain;new 40\nmain;same 100\n";
const scratch = scratchFolder();
let browser;
let server;

before(async () => {
    sparkflame(["diff", scratch.write("old.folded", BEFORE), scratch.write("next.folded", AFTER), "-o", scratch.path("diff.html")]);
    const perf = (event, counts) => Object.entries(counts).flatMap(([name, count]) => Array.from({ length: count }, (_, i) =>
        `x 1/1 ${100 + i}.000000: 1 ${event}:\n\t7f00 ${name}+0x1 (/bin/x)\n`)).join("\n") + "\n";
    sparkflame(["diff", scratch.write("old.perf", perf("cpu-clock", { a: 3, gone: 1 })),
                scratch.write("next.perf", `${perf("cycles", { a: 1, fresh: 1 })}\n${perf("page-faults", { a: 2 })}`), "-o", scratch.path("events.html")]);
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

function pageTest(what, hash, body, file = "diff.html") {
    test(what, async () => {
        const it = await Page.open(browser, `${server.address(file)}#icicle=1${hash}`);
        await body(it);
        assert.deepEqual(it.problems, []);
        await it.close();
    });
}

// Normalised, width of both: a (10·2 + 60) / 2 = 40, gone 40, new 20, same 100; 200 in all.
const A = 0.1, GONE = 0.3, NEW = 0.45, SAME = 0.7;

pageTest("removed, new, grown and unchanged frames are all there, with both sides", "", async (it) => {
    const hint = async (share, expected) => {
        await it.hover(2, share);
        await it.expectText("hint", "#hint", expected);
    };
    await hint(A, /^aTotal, old.folded → next.folded10 \(10.00 %\) → 60 \(30.00 %\) · \+20.00 %Self/);
    await hint(GONE, /^goneTotal, .*40 \(40.00 %\) → 0 \(0.00 %\) · −40.00 %Self/);
    await hint(NEW, /^newTotal, .*0 \(0.00 %\) → 40 \(20.00 %\) · \+20.00 %Self/);
    await hint(SAME, /^sameTotal, .*50 \(50.00 %\) → 100 \(50.00 %\) · 0.00 %Self/);
});

pageTest("blue is less, orange is more, grey the same; the legend names the sides", "", async (it) => {
    const blue = ([r, , b]) => b > r + 60;
    const orange = ([r, , b]) => r > b + 60;
    const grey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 8;
    await eventually("gone", () => it.color(2, GONE, undefined, 0.12), blue);
    await eventually("new", () => it.color(2, NEW, undefined, 0.12), orange);
    await eventually("a", () => it.color(2, A, undefined, 0.12), orange);
    await eventually("same", () => it.color(2, SAME, undefined, 0.12), grey);
    await it.expectText("legend", "#legend", "only old.folded (removed)lessthe samemoreonly next.folded (new)");
    await it.page.selectOption("#changeOf", "self");
    await eventually("main has no self change", () => it.color(1, 0.9, undefined, 0.12), grey);
});

pageTest("absolute values can be compared", "", async (it) => {
    assert.equal(await it.pressed("normalize"), "true");
    await it.page.click("#normalize");
    // Widths are now (10 + 60) / 2 = 35, 20, 20, 75 of 150.
    await it.hover(2, 0.8);
    await it.expectText("same has doubled", "#hint", /^same.*50 \(50.00 %\) → 100 \(50.00 %\) · \+50Self/);
    await it.expectHash("address", /normalize=0/);
});

pageTest("widths follow one side on wish", "", async (it) => {
    await it.page.selectOption("#width", "before");
    await it.hover(2, 0.3);
    await it.expectText("before: gone stands at 0.1 to 0.5", "#status", /^gone /);
    await it.page.selectOption("#width", "after");
    await it.hover(2, 0.4);
    await it.expectText("after: new stands at 0.3 to 0.5", "#status", /^new /);
});

pageTest("the list of the largest changes", "", async (it) => {
    const rows = () => it.page.evaluate(() => [...document.querySelectorAll(".table .row")].map((row) =>
        [...row.children].filter((_, i) => i < 2 || i === 6).map((cell) => cell.textContent).join(" ")));
    await it.page.click("#tab-table");
    assert.equal(await it.page.textContent("#tab-table"), "Largest changes");
    await eventually("by change of self", rows,
                     (seen) => seen[0] === "−40.00 % −40.00 % gone" && [...seen.slice(1, 3)].sort().join() === "+20.00 % +20.00 % a,+20.00 % +20.00 % new"
                         && [...seen.slice(3)].sort().join() === "0.00 % 0.00 % main,0.00 % 0.00 % same");
    await it.page.click(".table [data-column=total-after]");
    await eventually("by total after", rows, (seen) => seen[0] === "0.00 % 0.00 % main" && seen[4] === "−40.00 % −40.00 % gone");
    await it.page.click(".table .row:has-text('gone')");
    await it.expectText("opened", "#sandwich-title", /gone.*self 40 → 0, total 40 → 0/);
});

pageTest("search, reverse and saving know both sides", "", async (it) => {
    await it.page.fill("#search", "^(gone|new)$");
    await it.expectText("matched on both sides", "#search-result", "40.00 % → 20.00 % matched, 2 boxes");
    const folded = await it.download(() => it.page.selectOption("#export", "folded"));
    assert.equal(folded.bytes.toString(), "main;a 10 60\nmain;gone 40 0\nmain;new 0 40\nmain;same 50 100\n");
    await it.page.click("#reverse");
    await it.hover(1, GONE);
    await it.expectText("reversed", "#status", /^gone · .*40 \(40.00 %\) → 0/);
});

pageTest("sides without a common event are compared by one of each, and another can be chosen", "", async (it) => {
    const change = async (name, expected) => {
        await it.page.click("#tab-table");
        await eventually(name, () => it.page.evaluate((wanted) => [...document.querySelectorAll(".table .row")]
            .map((row) => [...row.children].map((cell) => cell.textContent)).find((cells) => cells[6] === wanted)?.[0] ?? "", name), expected);
    };
    // a: 3 of 4 of cpu-clock, 1 of 2 of cycles.
    await change("a", "−25.00 %");
    await change("fresh", "+50.00 %");
    await it.page.selectOption("#type", { label: "page-faults" });
    await change("a", "+25.00 %");
    await it.page.selectOption("#typeBefore", { label: "against: the same" });
    await it.expectText("nothing to compare with", "#status", /^page-faults: 0 → 2/);
    await it.expectHash("address", /type=page-faults\/count.*typeBefore=/);
}, "events.html");
