// Everything one can do with the flame graph of the page.
import { after, before, beforeEach, afterEach, test } from "node:test";
import assert from "node:assert/strict";
import { eventually, launch, scratchFolder, serve, sparkflame } from "./browser.mjs";
import { Page } from "./page_driver.mjs";

const TREE = "main;a;b 30\nmain;a;c 20\nmain;a;a;b 10\nmain;d 40\n";
const ALL = ["0 all 100 0", "1 main 100 0", "2 a 60 0", "2 d 40 40", "3 a 10 0", "3 b 30 30", "3 c 20 20", "4 b 10 10"];
const scratch = scratchFolder();
let browser;
let server;
let it;

before(async () => {
    sparkflame(["flame", scratch.write("tree.folded", TREE), "--notes", "made up", "--title", "Tree", "-o", scratch.path("tree.html")]);
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

beforeEach(async () => {
    it = await Page.open(browser, `${server.address("tree.html")}#icicle=1`, { acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
});

afterEach(async () => {
    const { problems } = it;
    await it.close();
    assert.deepEqual(problems, []);
});

test("shows all boxes, also to screen readers", async () => {
    await it.expectBoxes("all boxes", ALL);
    assert.equal(await it.page.getAttribute("#view-flame canvas", "aria-roledescription"), "flame graph");
});

test("a click zooms, crumbs, back and reset lead out", async () => {
    await it.click(2, 0.3);
    await it.expectText("crumbs after a click on a", "#crumbs", /all›main›a$/);
    await it.expectBoxes("boxes around a", ["0 all 100 0", "1 main 100 0", "2 a 60 0", "3 a 10 0", "3 b 30 30", "3 c 20 20", "4 b 10 10"]);
    await it.click(3, 0.9);
    await it.expectText("crumbs after a click on c", "#crumbs", /all›main›a›c$/);
    await it.page.click("#back");
    await it.expectText("crumbs after Back", "#crumbs", /all›main›a$/);
    await it.page.click("#crumbs .crumb:has-text('main')");
    await it.expectText("crumbs after a click on main", "#crumbs", /all›main$/);
    await it.page.click("#reset");
    await it.expectText("crumbs after Reset", "#crumbs", /all$/);
    assert.equal(await it.page.isDisabled("#reset"), true);
    await it.page.goBack();
    await it.expectText("crumbs after the browser's Back", "#crumbs", /all›main$/);
    await it.page.goForward();
    await it.expectText("crumbs after the browser's Forward", "#crumbs", /all$/);
});

test("a click on a faded box above goes out", async () => {
    await it.click(3, 0.2);
    await it.expectText("crumbs", "#crumbs", /all›main›a›b$/);
    await it.click(0, 0.5);
    await it.expectText("crumbs", "#crumbs", /all$/);
});

test("the hint tells name, self, total and shares", async () => {
    await it.hover(3, 0.2);
    await it.expectText("hint", "#hint", "bTotal30 · 30.00 % of allSelf30 · 30.00 % of allOf parent50.00 % of a");
    await it.expectText("status", "#status", "b · Total: 30 · 30.00 % of all · Self: 30 · 30.00 % of all · Of parent: 50.00 % of a");
    await it.hover(12, 0.5);
    await eventually("the hint hides", () => it.page.isHidden("#hint"), true);
});

test("keys walk from box to box, Enter zooms", async () => {
    await it.page.focus("#view-flame canvas");
    const focus = async (key, expected) => {
        await it.page.keyboard.press(key);
        await it.expectText(`after ${key}`, "#status", expected);
    };
    await focus("ArrowDown", /^all · /);
    await focus("ArrowDown", /^main · /);
    await focus("ArrowDown", /^a · Total: 60/);
    await focus("ArrowRight", /^d · /);
    await focus("ArrowRight", /^d · /);
    await focus("ArrowLeft", /^a · Total: 60/);
    await focus("ArrowDown", /^b · Total: 30/);
    await it.expectText("said aloud", "#live", /^b · Total: 30/);
    await focus("ArrowUp", /^a · /);
    await it.page.keyboard.press("Enter");
    await it.expectText("crumbs", "#crumbs", /all›main›a$/);
    await it.page.keyboard.press("Backspace");
    await it.expectText("crumbs", "#crumbs", /all$/);
    await it.page.keyboard.press("1");
    await it.page.keyboard.press("0");
    await it.expectText("crumbs", "#crumbs", /all$/);
});

test("keys act on the walked-to box", async () => {
    const walk = async () => {
        await it.page.focus("#view-flame canvas");
        for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await it.page.keyboard.press(key);
        await it.expectText("at a", "#status", /^a · Total: 60/);
    };
    await walk();
    await it.page.keyboard.press("h");
    await it.expectText("a is hidden", ".chip", /^hidden: a/);
    await it.page.click(".chip");
    await walk();
    await it.page.keyboard.press("x");
    await it.expectBoxes("a is out", ["0 all 40 0", "1 main 40 0", "2 d 40 40"]);
    await it.page.click(".chip");
    await walk();
    await it.page.keyboard.press("s");
    await it.expectText("callers and callees", "#sandwich-title", /a.*total 60/);
});

test("tabs are walked by arrow keys", async () => {
    await it.page.focus("#tab-flame");
    await it.page.keyboard.press("ArrowRight");
    await eventually("methods", () => it.page.isVisible("#view-table"), true);
    await it.page.keyboard.press("ArrowRight");
    await eventually("callers and callees", () => it.page.isVisible("#view-sandwich"), true);
    await it.page.keyboard.press("ArrowRight");
    await eventually("flame graph", () => it.page.isVisible("#view-flame"), true);
});

test("shows a message when nothing matches the filters", async () => {
    await it.page.fill("#keep", "no such method");
    await it.page.press("#keep", "Enter");
    await eventually("told", () => it.page.isVisible("#nothing"), true);
    await it.hover(0, 0.5);
    for (const tab of ["#tab-table", "#tab-sandwich", "#tab-flame"]) await it.page.click(tab);
    await it.page.fill("#drop", "^d$");
    await it.page.press("#drop", "Enter");
    await it.page.click("#clear-filters");
    await it.expectBoxes("all again", ALL);
    assert.equal(await it.page.isHidden("#nothing"), true);
});

test("search counts nested matches once and knows regular expressions and case", async () => {
    await it.page.keyboard.press("/");
    await it.page.keyboard.type("^a$");
    await it.expectText("a", "#search-result", "60.00 % matched, 2 boxes");
    await it.page.fill("#search", "^(A|D)$");
    await it.expectText("upper case", "#search-result", "0.00 % matched, 0 boxes");
    await it.page.click("#ignore-case");
    assert.equal(await it.pressed("ignore-case"), "true");
    await it.expectText("upper case, ignored", "#search-result", "100 % matched, 3 boxes");
    await it.page.fill("#search", "a(");
    await it.expectText("no regular expression", "#search-result", "0.00 % matched, 0 boxes");
    await it.page.fill("#search", "b");
    await it.expectText("b", "#search-result", "40.00 % matched, 2 boxes");
    await eventually("matches are marked", () => it.color(3, 0.25), (c) => c[0] > 180 && c[1] < 130 && c[2] > 150);
    await it.page.focus("#search");
    await it.page.keyboard.press("Escape");
    await it.page.keyboard.press("Escape");
    await it.expectText("search left", "#search-result", "");
});

test("next and previous lead from match to match", async () => {
    await it.page.fill("#search", "^b$");
    await it.expectText("b", "#search-result", "40.00 % matched, 2 boxes");
    await it.page.click("#search-next");
    await it.expectText("first", "#search-result", /1 of 2$/);
    await it.expectText("first", "#status", /^b · Total: 10 /);
    await it.page.click("#search-next");
    await it.expectText("second", "#status", /^b · Total: 30 /);
    await it.page.click("#search-next");
    await it.expectText("first again", "#search-result", /1 of 2$/);
    await it.page.click("#search-previous");
    await it.expectText("second again", "#search-result", /2 of 2$/);
    await it.page.focus("#view-flame canvas");
    await it.page.keyboard.press("n");
    await it.expectText("by key", "#search-result", /1 of 2$/);
    await it.page.keyboard.press("N");
    await it.expectText("by key", "#search-result", /2 of 2$/);
});

test("the share matched is that of the zoomed box", async () => {
    await it.page.fill("#search", "^b$");
    await it.click(2, 0.3);
    await it.expectText("within a", "#search-result", "66.67 % matched, 2 boxes");
});

test("patterns keep and leave out stacks", async () => {
    await it.page.fill("#keep", "^c$|^d$");
    await it.page.press("#keep", "Enter");
    await it.expectBoxes("kept", ["0 all 60 0", "1 main 60 0", "2 a 20 0", "2 d 40 40", "3 c 20 20"]);
    await it.page.fill("#drop", "^d$");
    await it.page.press("#drop", "Enter");
    await it.expectBoxes("kept without d", ["0 all 20 0", "1 main 20 0", "2 a 20 0", "3 c 20 20"]);
    await it.page.click(".chip:has-text('without')");
    await it.expectBoxes("chip taken off", ["0 all 60 0", "1 main 60 0", "2 a 20 0", "2 d 40 40", "3 c 20 20"]);
    await it.page.fill("#keep", "");
    await it.page.press("#keep", "Enter");
    await it.expectBoxes("all again", ALL);
});

test("Alt and click takes a stack out, its chip brings it back", async () => {
    await it.click(3, 0.2, { alt: true });
    await it.expectBoxes("without main;a;b", ["0 all 70 0", "1 main 70 0", "2 a 30 0", "2 d 40 40", "3 a 10 0", "3 c 20 20", "4 b 10 10"]);
    await it.page.click(".chip:has-text('removed: b')");
    await it.expectBoxes("all again", ALL);
});

test("a reversed stack can be taken out", async () => {
    await it.page.click("#reverse");
    await it.expectBoxes("reversed", ["0 all 100 0", "1 b 40 0", "1 c 20 0", "1 d 40 0", "2 a 40 0", "2 a 20 0", "2 main 40 40", "3 a 10 0",
                                      "3 main 30 30", "3 main 20 20", "4 main 10 10"]);
    await it.click(1, 0.5, { alt: true });
    await it.expectBoxes("without c", ["0 all 80 0", "1 b 40 0", "1 d 40 0", "2 a 40 0", "2 main 40 40", "3 a 10 0", "3 main 30 30", "4 main 10 10"]);
});

test("the menu of a box", async () => {
    await it.menu(2, 0.3, "zoom");
    await it.expectText("zoom", "#crumbs", /all›main›a$/);
    await it.page.click("#reset");
    await it.menu(2, 0.3, "hide");
    await it.expectBoxes("a is hidden", ["0 all 100 0", "1 main 100 0", "2 b 40 40", "2 c 20 20", "2 d 40 40"]);
    await it.page.click(".chip:has-text('hidden: a')");
    await it.expectBoxes("all again", ALL);
    await it.menu(2, 0.8, "remove");
    await it.expectBoxes("d is out", ["0 all 60 0", "1 main 60 0", "2 a 60 0", "3 a 10 0", "3 b 30 30", "3 c 20 20", "4 b 10 10"]);
    await it.page.click(".chip:has-text('removed: d')");
    await it.menu(3, 0.5, "keep");
    await it.expectBoxes("only c", ["0 all 20 0", "1 main 20 0", "2 a 20 0", "3 c 20 20"]);
    await it.page.click(".chip:has-text('only')");
    await it.menu(3, 0.5, "drop");
    await it.expectText("without c", "#status", /^samples: 80 /);
    await it.page.click(".chip:has-text('without')");
    await it.menu(3, 0.5, "search");
    await it.expectText("search for c", "#search-result", "20.00 % matched, 1 box");
    await it.menu(3, 0.5, "sandwich");
    await it.expectText("callers and callees", "#sandwich-title", /c.*self 20, total 20/);
});

test("the menu opens and is walked by keys", async () => {
    await it.page.focus("#view-flame canvas");
    for (const key of ["ArrowDown", "ArrowDown", "ContextMenu"]) await it.page.keyboard.press(key);
    await it.expectText("menu", "#menu .menu-title", "main");
    await it.page.keyboard.press("ArrowDown");
    await it.page.keyboard.press("Enter");
    await it.expectText("second entry", "#sandwich-title", /main.*total 100/);
});

test("the menu closes by Escape and by a click elsewhere", async () => {
    await it.click(2, 0.3, { button: "right" });
    await it.page.keyboard.press("Escape");
    await eventually("closed by Escape", () => it.page.isHidden("#menu"), true);
    await it.click(2, 0.3, { button: "right" });
    await it.page.mouse.click(300, 20);
    await eventually("closed by a click", () => it.page.isHidden("#menu"), true);
    await it.expectBoxes("nothing happened", ALL);
});

test("names and stacks are copied", async () => {
    const clipboard = () => it.page.evaluate(() => navigator.clipboard.readText());
    await it.menu(3, 0.2, "copy");
    await eventually("name", clipboard, "b");
    await it.menu(3, 0.2, "copy-stack");
    await eventually("stack", clipboard, "main;a;b");
    await it.page.focus("#view-flame canvas");
    for (const key of ["ArrowDown", "ArrowDown", "c"]) await it.page.keyboard.press(key);
    await eventually("by key", clipboard, "main");
});

test("reverse, recursion and order change the picture at once, and by keys", async () => {
    await it.page.click("#fold");
    await it.expectBoxes("folded", ["0 all 100 0", "1 main 100 0", "2 a 60 0", "2 d 40 40", "3 b 40 40", "3 c 20 20"]);
    await it.page.selectOption("#order", "width");
    await it.page.click("#fold");
    await it.expectBoxes("by width", ["0 all 100 0", "1 main 100 0", "2 a 60 0", "2 d 40 40", "3 b 30 30", "3 c 20 20", "3 a 10 0", "4 b 10 10"]);
    await it.page.focus("#view-flame canvas");
    await it.page.keyboard.press("o");
    await it.expectBoxes("by name", ALL);
    await it.page.keyboard.press("f");
    assert.equal(await it.pressed("fold"), "true");
    await it.page.keyboard.press("f");
    await it.page.keyboard.press("r");
    assert.equal(await it.pressed("reverse"), "true");
    await it.expectText("levels of the reversed tree", "#status", /10 boxes, 4 levels/);
    await it.page.keyboard.press("r");
    await it.page.keyboard.press("i");
    assert.equal(await it.pressed("icicle"), "false");
});

test("zoom into a reversed tree", async () => {
    await it.page.click("#reverse");
    await it.click(1, 0.2);
    await it.expectBoxes("around b", ["0 all 100 0", "1 b 40 0", "2 a 40 0", "3 a 10 0", "3 main 30 30", "4 main 10 10"]);
});

test("roots stand at the bottom without icicle", async () => {
    await it.page.click("#icicle");
    assert.equal(await it.pressed("icicle"), "false");
    const bounds = await it.page.locator("#view-flame .flame canvas").boundingBox();
    await it.page.mouse.move(bounds.x + bounds.width / 2, bounds.y + bounds.height - 9);
    await it.expectText("at the bottom", "#status", /^all · /);
    await it.page.mouse.click(bounds.x + bounds.width * 0.3, bounds.y + bounds.height - 2 * 18 - 9);
    await it.expectText("two above", "#crumbs", /all›main›a$/);
});

test("colours follow package, kind and name; the legend says what they mean", async () => {
    await it.page.selectOption("#color", "kind");
    await it.expectText("legend", "#legend", "unknown");
    const kind = await eventually("colour by kind", () => it.color(2, 0.8), (c) => c.length === 3);
    await it.page.selectOption("#color", "name");
    await eventually("colour by name", () => it.color(2, 0.8), (c) => String(c) !== String(kind));
    await it.expectText("legend", "#legend", "");
    await it.page.selectOption("#color", "package");
    await it.expectText("legend", "#legend", "no package");
});

test("help and notes open and close", async () => {
    await it.page.keyboard.press("?");
    await it.expectText("help", "dialog", /How to read this.*Each box is a method/s);
    await it.page.click("dialog .close");
    await eventually("help is closed", () => it.page.locator("dialog").count(), 0);
    await it.page.click("#help");
    await it.page.keyboard.press("Escape");
    await eventually("help is closed by Escape", () => it.page.locator("dialog").count(), 0);
    await it.page.click("#notes");
    await it.expectText("notes", "dialog pre", "made up");
});

test("saves folded stacks, SVG and PNG of what is shown", async () => {
    await it.click(2, 0.3);
    const folded = await it.download(() => it.page.selectOption("#export", "folded"));
    assert.equal(folded.name, "Tree.folded");
    assert.equal(folded.bytes.toString(), "main;a;a;b 10\nmain;a;b 30\nmain;a;c 20\n");
    const svg = await it.download(() => it.page.selectOption("#export", "svg"));
    assert.equal(svg.name, "Tree.svg");
    assert.match(svg.bytes.toString(), /^<\?xml.*<svg .*<title>b · Total: 30 .*<\/svg>\s*$/s);
    const parsed = await it.page.evaluate((text) => {
        const document = new DOMParser().parseFromString(text, "image/svg+xml");
        return [document.querySelectorAll("parsererror").length, document.querySelectorAll("g rect").length];
    }, svg.bytes.toString());
    assert.deepEqual(parsed, [0, 7]);
    const png = await it.download(() => it.page.selectOption("#export", "png"));
    assert.equal(png.name, "Tree.png");
    assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
    assert.ok(png.bytes.readUInt32BE(16) >= 2000, `the picture is ${png.bytes.readUInt32BE(16)} wide`);
});

test("the address holds the state and brings it back", async () => {
    await it.click(2, 0.3);
    await it.page.fill("#search", "^b$");
    await it.page.click("#ignore-case");
    await it.page.selectOption("#order", "width");
    await it.menu(3, 0.7, "hide");
    await it.expectHash("address", /zoom=[0-9a-f]{16}/);
    const address = it.page.url();
    const other = await Page.open(browser, address);
    await other.expectText("crumbs", "#crumbs", /all›main›a$/);
    await other.expectText("search", "#search-result", await it.page.textContent("#search-result"));
    assert.equal(await other.page.inputValue("#search"), "^b$");
    assert.equal(await other.pressed("ignore-case"), "true");
    assert.equal(await other.page.inputValue("#order"), "width");
    assert.deepEqual(other.problems, []);
    await other.close();
    await it.page.goto(`${server.address("tree.html")}#zoom=0000000000000000&time=x&tab=none&remove=&only=::&icicle=1`);
    await it.page.reload();
    await it.ready();
    await it.expectBoxes("a damaged address shows all", ALL);
});

test("the picture follows the window's size", async () => {
    await it.page.setViewportSize({ width: 700, height: 500 });
    await eventually("width", () => it.page.evaluate(() => {
        const canvas = document.querySelector("#view-flame .flame canvas");
        return Math.abs(canvas.clientWidth - canvas.parentElement.clientWidth) + (canvas.clientWidth > 700 ? 1 : 0);
    }), 0);
    await it.click(2, 0.3);
    await it.expectText("crumbs", "#crumbs", /a$/);
});
