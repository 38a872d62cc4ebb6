// The page opens from a server and from disk, under its own policy and a server's, and asks for nothing else.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, scratchFolder, serve, sparkflame } from "./browser.mjs";

const scratch = scratchFolder();
let browser;
let server;

before(async () => {
    const folded = scratch.write("small.folded", "main;a;b 5\nmain;a;c 3\nmain;d 7\n");
    sparkflame(["flame", folded, "--title", "Small <b>&</b>", "-o", scratch.path("small.html")]);
    browser = await launch();
    server = await serve(scratch);
});

after(async () => {
    await browser?.close();
    await server?.close();
    scratch.remove();
});

const ready = (page) => eventually("the page is ready", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");

async function checkOpens(address) {
    const { page, problems, close } = await openPage(browser, address);
    await ready(page);
    assert.equal(await page.title(), "Small <b>&</b>");
    assert.match(await page.textContent("#status"), /samples: 15 · 5 boxes, 3 levels/);
    assert.deepEqual(problems, []);
    await close();
}

test("opens from a server", () => checkOpens(server.address("small.html")));

test("opens from disk", () => checkOpens(pathToFileURL(scratch.path("small.html")).href));

test("opens under a server's strict policy that allows its hashes", async () => {
    const text = readFileSync(scratch.path("small.html"), "utf8");
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(text)[1];
    assert.doesNotMatch(policy, /unsafe|\*/);
    const strict = await serve(scratch, { "content-security-policy": policy });
    await checkOpens(strict.address("small.html"));
    await strict.close();
});

test("says what is wrong when its data is damaged", async () => {
    const text = readFileSync(scratch.path("small.html"), "utf8");
    scratch.write("damaged.html", text.replace(/(id="data"[^>]*>).{12}/, "$1AAAAAAAAAAAA"));
    const { page, close } = await openPage(browser, server.address("damaged.html"));
    await eventually("the failure is shown", () => page.textContent("#failure"), /^This page cannot be shown: /);
    await close();
});

test("shows a message without JavaScript", async () => {
    const { page, close } = await openPage(browser, server.address("small.html"), { javaScriptEnabled: false });
    assert.match(await page.content(), /draws with JavaScript, which is turned off/);
    await close();
});
