// The console of a collector that runs: groups, applications, ranges of time, flame graphs, comparison, reports; names
// that look like script; a token that the browser asks for.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, launch, ROOT, scratchFolder, sparkflame } from "./browser.mjs";
import { openConsole, post, startCollector } from "./console_driver.mjs";

const BAD = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>`;
const scratch = scratchFolder();
let browser;
const servers = [];

/** A collector of its own; its address. */
async function collect(name) {
    const server = await startCollector(scratch.path(name));
    servers.push(server);
    return server.address;
}

const open = (address, options) => openConsole(browser, address, options);

/** What the picture's status line says. */
const pictured = (page, wanted) => eventually(`the picture shows ${wanted}`, async () => page.frameLocator("#picture").locator("#status").textContent(), wanted);

let address;

before(async () => {
    address = await collect("data");
    await post(address, "main;join 10\nmain;sort 5\n", { application: "app-1", label: "release=1.1" });
    await post(address, "main;join 1\nmain;scan 7\n", { application: "app-1", executor: "2", label: "release=1.1" });
    await post(address, `main;join 20\nmain;${BAD.replaceAll(" ", "_")} 2\n`, { application: "app-2", label: `release=${BAD}` });
    await post(address, "other;work 3\n", { application: "app-1", group: "web" });
    browser = await launch();
});

after(async () => {
    await browser?.close();
    for (const server of servers) server.end();
    scratch.remove();
});

for (const colorScheme of ["light", "dark"]) {
    test(`a new user sees applications and a flame graph in ${colorScheme}`, async () => {
        const { page, problems, close } = await open(`${address}/#group=etl`, { colorScheme });
        assert.deepEqual(await page.locator("#group option").allTextContents(), ["etl (2)", "web (1)"]);
        assert.deepEqual((await page.locator("#applications button").allTextContents()).sort(), ["app-1", "app-2"]);
        await pictured(page, /samples: 45 /);
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), colorScheme === "dark" ? "rgb(22, 24, 28)" : "rgb(255, 255, 255)");
        await page.click("#theme");
        assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme === "dark" ? "light" : "dark");
        assert.deepEqual(problems, []);
        await close();
    });
}

test("an application, a label, an executor and a group are chosen, and a link shows the same", async () => {
    const { page, problems, close } = await open(`${address}/#group=etl`);
    await page.click("#applications button >> text=app-1");
    await pictured(page, /samples: 23 /);
    await page.fill("#executor", "2");
    await page.press("#executor", "Enter");
    await pictured(page, /samples: 8 /);
    const link = page.url();
    await page.selectOption("#group", "web");
    await pictured(page, /samples: 3 /);
    await page.goBack();
    await pictured(page, /samples: 8 /);
    await page.goto("about:blank");
    await page.goto(link);
    await pictured(page, /samples: 8 /);
    assert.equal(await page.textContent("#what"), "app-1");
    assert.deepEqual(problems, []);
    await close();
});

test("two applications are compared", async () => {
    const { page, problems, close } = await open(`${address}/#group=etl&application=app-2`);
    await page.click("#view-compare");
    await page.selectOption("#against", "app:app-1");
    await eventually("the frame compares", () => page.getAttribute("#picture", "src"), /\/v1\/difference\?.*against_application=app-1/);
    await eventually("both sides are named", () => page.frameLocator("#picture").locator("body").textContent(), /etl app-1/);
    assert.deepEqual(problems, []);
    await close();
});

test("a range of time is chosen in the time line", async () => {
    const { page, close } = await open(`${address}/#group=etl`);
    await page.locator("#timeline").focus();
    await page.keyboard.press("ArrowRight");
    await eventually("the range is in the address", () => page.url(), /from=\d+&to=\d+/);
    await eventually("the range is drawn", () => page.locator("#timeline .range").count(), 1);
    await page.keyboard.press("Escape");
    await eventually("the range is gone", () => page.locator("#timeline .range").count(), 0);
    const box = await page.locator("#timeline").boundingBox();
    await page.mouse.move(box.x + 1, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20);
    await page.mouse.up();
    await eventually("all of it is chosen", () => page.locator("#timeline .range").count(), 1);
    await pictured(page, /samples: 45 /);
    await close();
});

test("what looks like script is text", async () => {
    const { page, problems, close } = await open(`${address}/#group=etl&application=app-2&label=${encodeURIComponent(`release=${BAD}`)}&by=release`);
    await pictured(page, /samples: 22 /);
    assert.ok((await page.locator("#label option").allTextContents()).includes(`release=${BAD}`));
    for (const frame of page.frames()) assert.equal(await frame.evaluate(() => window.pwned ?? 0), 0);
    await page.goto(`${address}/#group=${encodeURIComponent(BAD)}&application=${encodeURIComponent(BAD)}`);
    await page.reload();
    await eventually("the console goes on", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    assert.equal(await page.evaluate(() => window.pwned ?? 0), 0);
    assert.deepEqual(problems.filter((text) => !text.includes("status of 4")), []);
    await close();
});

test("the picture runs apart from the console", async () => {
    const { page, close } = await open(`${address}/#group=etl`);
    await pictured(page, /samples: 45 /);
    const frame = page.frames().find((one) => one.url().includes("/v1/profile"));
    assert.equal(await frame.evaluate(() => self.origin), "null");
    await assert.rejects(frame.evaluate(() => parent.document.title));
    // Opened by itself, too.
    await page.goto(`${address}/v1/profile?group=etl`);
    assert.equal(await page.evaluate(() => self.origin), "null");
    await close();
});

test("what was sent last appears without a reload", async () => {
    const { page, close } = await open(`${address}/#group=etl&application=app-2`);
    await pictured(page, /samples: 22 /);
    await page.click("#follow");
    await post(address, "main;late 4\n", { application: "app-2", sequence: "1" });
    await post(address, "main;late 4\n", { application: "app-9", group: "live" });
    await pictured(page, /samples: 26 /);
    await eventually("the group is listed", () => page.locator("#group option").allTextContents(), (names) => names.includes("live (1)"));
    await close();
});

test("the report of an application is shown", async () => {
    const events = readFileSync(join(ROOT, "tests", "data", "event_log", "single"));
    const id = /"App ID":"([^"]+)"/.exec(events.toString())[1];
    await post(address, events, { application: id, executor: "eventlog", group: "reports" });
    const { page, close } = await open(`${address}/#group=reports&application=${id}&view=report`);
    await eventually("the report is there", () => page.frameLocator("#picture").locator("#summary").textContent(), new RegExp(id));
    await close();
});

test("the browser asks for a token, and the console shows what it may read", async () => {
    const token = sparkflame(["serve", "--data", scratch.path("closed"), "--add-token", "read:web"]).toString().trim();
    const writer = sparkflame(["serve", "--data", scratch.path("closed"), "--add-token", "write:*"]).toString().trim();
    const closed = await collect("closed");
    const headers = { authorization: `Bearer ${writer}` };
    await post(closed, "main;join 10\n", { application: "app-1" }, headers);
    await post(closed, "other;work 3\n", { application: "app-2", group: "web" }, headers);
    const { page, problems, close } = await open(`${closed}/`, { httpCredentials: { username: "me", password: token } });
    assert.deepEqual(await page.locator("#group option").allTextContents(), ["web (1)"]);
    await pictured(page, /samples: 3 /);
    assert.deepEqual(problems, []);
    await close();
});

test("nothing received yet", async () => {
    const empty = await collect("empty");
    const { page, problems, close } = await open(`${empty}/`);
    assert.equal(await page.textContent("#what"), "Nothing was received yet");
    assert.deepEqual(problems, []);
    await close();
});
