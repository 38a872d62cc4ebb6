// Table of methods, callers and callees, time, labels, events, names, themes, touch, depth and hostile names.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { join } from "node:path";
import { eventually, launch, ROOT, scratchFolder, serve, sparkflame } from "./browser.mjs";
import { perfText } from "./fixtures.mjs";
import { Page } from "./page_driver.mjs";

const DATA = join(ROOT, "tests", "data");
const scratch = scratchFolder();
let browser;
let server;

function make(name, input, ...options) {
    sparkflame(["flame", input, ...options, "-o", scratch.path(name)]);
}

before(async () => {
    make("tree.html", scratch.write("tree.folded", "main;a;b 30\nmain;a;c 20\nmain;a;a;b 10\nmain;d 40\n"));
    make("spark.html", scratch.write("spark.txt", perfText()));
    make("jfr.html", join(DATA, "jfr", "small.jfr"));
    make("deep.html", scratch.write("deep.folded", `${Array.from({ length: 100_000 }, (_, i) => `f${i % 500}`).join(";")} 3\nm;x 1\n`));
    make("lambda.html", scratch.write("lambda.folded",
        "m;org/example/Job$$Lambda$2872/0x00007f0b84dd1c88.apply;x 1\nm;org/example/Job$$Lambda$99/0x00007f0b84dd1c00.apply;x 2\n"), "--names", "readable");
    make("hostile.html", scratch.write("hostile.folded",
        "</script><script>window.broken=1</script>;<img src=x onerror=window.broken=1>;a&b\"' 2\n<!--;]]>;\u202eabc 1\n"), "--title", "</title><script>window.broken=1</script>");
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

/** A test with a page of its own that must stay without errors. */
function pageTest(what, name, body, options = {}) {
    test(what, async () => {
        const it = await Page.open(browser, server.address(name.split("#")[0]) + (name.includes("#") ? name.slice(name.indexOf("#")) : ""), options);
        await body(it);
        assert.deepEqual(it.problems, []);
        await it.close();
    });
}

const rows = (it) => it.page.evaluate(() => [...document.querySelectorAll(".table .row")].map((row) =>
    [...row.children].map((cell) => cell.textContent.replace(/\s*·.*/, "")).join(" ")));

pageTest("the table lists methods with self and total, recursion once", "tree.html", async (it) => {
    await it.page.click("#tab-table");
    await eventually("rows by self", () => rows(it), ["40 40 b", "40 40 d", "20 20 c", "0 60 a", "0 100 main"]);
    await it.page.click(".table [data-column=total]");
    await eventually("rows by total", () => rows(it), ["0 100 main", "0 60 a", "40 40 b", "40 40 d", "20 20 c"]);
    await it.page.click(".table [data-column=total]");
    await eventually("rows by total, upwards", () => rows(it), ["20 20 c", "40 40 b", "40 40 d", "0 60 a", "0 100 main"]);
    await it.page.click(".table [data-column=name]");
    await eventually("rows by name", () => rows(it), ["0 60 a", "40 40 b", "20 20 c", "40 40 d", "0 100 main"]);
    await it.page.fill("#table-filter", "^[AB]$");
    await eventually("filtered", () => rows(it), ["0 60 a", "40 40 b"]);
    await it.expectText("count", "#table-count", /^2 of 5 methods/);
    await it.page.fill("#table-filter", "nothing");
    await it.expectText("empty", ".table", /No method matches/);
    await it.page.fill("#table-filter", "");
    await it.page.click(".table .row:has-text('c')");
    await it.expectText("opened", "#sandwich-title", /c.*self 20, total 20/);
});

pageTest("the table is walked by keys, and has the menu of a method", "tree.html#tab=table", async (it) => {
    await it.page.focus(".table-body");
    await it.page.keyboard.press("ArrowDown");
    await it.page.keyboard.press("Enter");
    await it.expectText("opened", "#sandwich-title", /d.*self 40, total 40/);
    await it.page.keyboard.press("2");
    await it.page.click(".table .row:has-text('d')", { button: "right" });
    await it.page.click("#menu [data-item=drop]");
    await eventually("without d", () => rows(it), ["40 40 b", "20 20 c", "0 60 a", "0 60 main"]);
});

pageTest("callers and callees of a method, and on to the next", "tree.html#tab=sandwich&method=a", async (it) => {
    await it.expectText("title", "#sandwich-title", /a.*self 0, total 60/);
    const [callers, callees] = ["#view-sandwich .flame:first-child canvas", "#view-sandwich .flame:last-child canvas"];
    const bounds = await it.page.locator(callers).boundingBox();
    await it.page.mouse.move(bounds.x + 20, bounds.y + bounds.height - 9);
    await it.expectText("the method below its callers", "#status", /^a · Total: 60/);
    await it.page.mouse.move(bounds.x + 20, bounds.y + bounds.height - 27);
    await it.expectText("its caller", "#status", /^main · Total: 60/);
    const callee = await it.place(1, 0.9, callees);
    await it.page.mouse.move(callee.x, callee.y);
    await it.expectText("its callee", "#status", /^c · Total: 20/);
    await it.page.mouse.click(callee.x, callee.y);
    await it.expectText("recentred", "#sandwich-title", /c.*self 20, total 20/);
    await it.expectHash("address", /tab=sandwich.*method=c/);
    await it.page.goBack();
    await it.expectText("back", "#sandwich-title", /a.*self 0, total 60/);
    await it.page.click("#tab-flame");
    await it.expectText("flame graph", "#status", /^samples: 100/);
});

async function drag(it, from, to) {
    const bounds = await it.page.locator(".strip canvas").boundingBox();
    const y = bounds.y + 12;
    await it.page.mouse.move(bounds.x + bounds.width * from, y);
    await it.page.mouse.down();
    await it.page.mouse.move(bounds.x + bounds.width * (from + to) / 2, y);
    await it.page.mouse.move(bounds.x + bounds.width * to, y);
    await it.page.mouse.up();
}

pageTest("a range of the time strip restricts every view", "spark.html", async (it) => {
    await it.expectText("all", "#status", /^cpu-clock: 1.73 s/);
    await drag(it, 0.7, 0.95);
    await it.expectText("chip", ".chip", /^time /);
    await it.expectText("late part", "#status", /^cpu-clock: [1-9]\d\d ms/);
    await it.page.fill("#search", "ShuffleMapTask");
    await it.expectText("no map stage in the late part", "#search-result", /^0.00 % matched/);
    await it.page.click("#tab-table");
    await it.page.fill("#table-filter", "ShuffleMapTask");
    await it.expectText("nor in the table", "#table-count", /^0 of/);
    await it.expectHash("address", /time=\d+-\d+/);
    await it.page.click(".chip:has-text('time')");
    await it.expectText("all again", "#table-count", /^1 of/);
    await it.page.click("#tab-flame");
    await drag(it, 0.1, 0.2);
    await it.expectText("chip", ".chip", /^time /);
    const bounds = await it.page.locator(".strip canvas").boundingBox();
    await it.page.mouse.click(bounds.x + 40, bounds.y + 10);
    await it.expectText("a click takes the range off", "#status", /^cpu-clock: 1.73 s/);
});

pageTest("the time strip obeys keys", "spark.html", async (it) => {
    await it.page.focus(".strip canvas");
    await it.page.keyboard.press("ArrowRight");
    await it.expectText("chip", ".chip", /^time 0.5/);
    await it.page.keyboard.press("Shift+ArrowRight");
    await it.expectText("wider", ".chip", /^time 0.5.* – 1.5/);
    await it.page.keyboard.press("Escape");
    await eventually("taken off", () => it.page.locator(".chip").count(), 0);
});

pageTest("a label groups, colours and selects", "spark.html#icicle=1", async (it) => {
    await it.page.selectOption("#group", "thread");
    await it.expectText("groups", "#boxes", /thread dispatcher.*thread task worker 0.*thread task worker 1.*thread VM Thread/s);
    await it.page.selectOption("#color", "label:thread");
    await it.expectText("legend", "#legend", /task worker 0.*task worker 1.*VM Thread.*dispatcher/);
    await it.hover(1, 0.3);
    await it.expectText("shares of the label", "#hint", /task worker 0 100 %/);
    await it.page.click("#legend button:has-text('VM Thread')");
    await it.expectText("only that thread", "#status", /^cpu-clock: 110 ms/);
    await it.page.click(".chip:has-text('thread = VM Thread')");
    await it.expectText("all again", "#status", /^cpu-clock: 1.73 s/);
    await it.page.click("#reverse");
    await it.expectText("groups stay first", "#boxes", /thread task worker 1.*thread VM Thread/s);
});

pageTest("a box of a group can be taken out of all groups", "spark.html#icicle=1&group=thread&keep=HashMap.putVal", async (it) => {
    await it.expectText("before", "#status", /^cpu-clock: 180 ms/);
    await it.menu(3, 0.2, "remove");
    await it.expectText("one worker is left", "#status", /^cpu-clock: 90.0 ms/);
});

pageTest("events of one recording are switched", "jfr.html", async (it) => {
    const types = await it.page.$$eval("#type option", (options) => options.map((option) => option.textContent));
    assert.deepEqual(types, ["cpu", "wall", "alloc, bytes", "alloc samples", "lock, time", "lock samples"]);
    await it.page.selectOption("#type", { label: "alloc, bytes" });
    await it.expectText("bytes", "#status", /^alloc: [\d.]+ ([KMGT]i)?B/);
    await it.page.selectOption("#type", { label: "lock, time" });
    await it.expectText("time", "#status", /^lock: [\d.]+ (ns|µs|ms)/);
    await it.expectHash("address", /type=lock\/nanoseconds/);
});

pageTest("kinds, files and lines of a recording", "jfr.html#icicle=1", async (it) => {
    await it.page.selectOption("#color", "kind");
    await it.expectText("legend", "#legend", /kernel/);
    await it.page.click("#lines");
    await it.expectText("lines", "#boxes", /java\/lang\/Thread.run:840/);
    await it.page.click("#lines");
    await eventually("no lines", () => it.page.textContent("#boxes"), (text) => !text.includes(":840"));
    const places = await it.page.evaluate(async () => document.querySelector("#status").textContent);
    assert.match(places, /^cpu: /);
    await it.hover(1, 0.02);
    await it.expectText("kind and line", "#hint", /(interpreted|compiled|native|kernel)/);
});

pageTest("names as recorded are one click away", "lambda.html#icicle=1", async (it) => {
    await it.expectText("boxes", "#status", /3 boxes, 3 levels/);
    await it.hover(2, 0.5);
    await it.expectText("hint", "#hint", /recorded as org\/example\/Job\$\$Lambda\$/);
    await it.page.click("#readable");
    assert.equal(await it.pressed("readable"), "false");
    await it.expectText("boxes", "#status", /5 boxes, 3 levels/);
    await it.expectText("names", "#boxes", /Job\$\$Lambda\$2872\/0x00007f0b84dd1c88.apply/);
});

pageTest("dark follows the system", "tree.html", async (it) => {
    assert.equal(await it.page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await it.page.emulateMedia({ colorScheme: "light" });
    await eventually("the system changes", () => it.page.evaluate(() => document.documentElement.dataset.theme), "light");
}, { colorScheme: "dark" });

pageTest("dark can be chosen and is remembered", "tree.html", async (it) => {
    assert.equal(await it.page.evaluate(() => document.documentElement.dataset.theme), "light");
    const light = await it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await it.page.click("#theme");
    const dark = await it.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.notEqual(dark, light);
    await it.page.reload();
    await it.ready();
    assert.equal(await it.page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await it.page.keyboard.press("d");
    assert.equal(await it.page.evaluate(() => document.documentElement.dataset.theme), "light");
}, { colorScheme: "light" });

pageTest("the picture is sharp on fine screens", "tree.html", async (it) => {
    await eventually("canvas pixels per page pixel", () => it.page.evaluate(() => {
        const canvas = document.querySelector("#view-flame .flame canvas");
        return Math.round(canvas.width / canvas.clientWidth);
    }), 3);
}, { deviceScaleFactor: 3 });

pageTest("a tap zooms, a long press opens the menu", "tree.html#icicle=1", async (it) => {
    const box = await it.place(2, 0.3);
    await it.page.touchscreen.tap(box.x, box.y);
    await it.expectText("zoomed by a tap", "#crumbs", /all›main›a$/);
    const client = await it.page.context().newCDPSession(it.page);
    const held = await it.place(2, 0.3);
    await client.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: held.x, y: held.y }] });
    await eventually("menu", () => it.page.isVisible("#menu"), true);
    await client.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await it.page.touchscreen.tap(...Object.values(await centre(it, "#menu [data-item=sandwich]")));
    await it.expectText("menu works", "#sandwich-title", /a.*total 60/);
}, { hasTouch: true, isMobile: true, viewport: { width: 400, height: 800 } });

async function centre(it, selector) {
    const bounds = await it.page.locator(selector).boundingBox();
    return { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
}

pageTest("a stack of 100,000 frames opens, scrolls, searches and reverses", "deep.html#icicle=1", async (it) => {
    await it.expectText("levels", "#status", /100,002 boxes, 100000 levels/);
    let bounds;
    await eventually("the last frame", async () => { // the height changes with what the page shows above
        await it.page.evaluate(() => {
            const host = document.querySelector("#view-flame .flame");
            host.scrollTop = host.scrollHeight;
        });
        bounds = await it.page.locator("#view-flame .flame canvas").boundingBox();
        await it.page.mouse.move(bounds.x + 50, bounds.y + bounds.height - 9);
        return it.page.textContent("#status");
    }, /^f499 · /);
    await it.page.mouse.click(bounds.x + 50, bounds.y + bounds.height - 9);
    await it.expectText("zoomed to it", "#crumbs", /… 99995 more ….*f499$/);
    await it.page.click("#reset");
    await it.page.fill("#search", "^f7$");
    await it.expectText("search", "#search-result", "75.00 % matched, 200 boxes");
    await it.page.click("#search-next");
    await it.expectText("first match", "#status", /^f7 · /);
    await it.page.click("#fold");
    await it.page.click("#reverse");
    await it.expectText("reversed", "#status", /100000 levels/);
    await it.page.click("#tab-table");
    await it.expectText("table", "#table-count", /^502 of 502/);
});

pageTest("names cannot become markup or script", "hostile.html#icicle=1", async (it) => {
    assert.equal(await it.page.title(), "</title><script>window.broken=1</script>");
    await it.expectText("names", "#boxes", /<\/script><script>window.broken=1<\/script>.*<img src=x onerror=window.broken=1>.*a&b"'/s);
    await it.hover(1, 0.9);
    await it.page.click("#tab-table");
    await it.page.click("#tab-sandwich");
    await it.page.click("#tab-flame");
    await it.menu(1, 0.9, "zoom");
    const svg = await it.download(() => it.page.selectOption("#export", "svg"));
    assert.doesNotMatch(svg.bytes.toString(), /<script|<img/);
    assert.equal(await it.page.evaluate(() => window.broken), undefined);
});
