// A collector that runs, recordings for it, and its page in the browser.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { eventually, ROOT, WAIT_MS } from "./browser.mjs";

/** A collector with that data directory and further options: its address, and how to end it. */
export async function startCollector(folder, ...options) {
    const program = process.env.SPARKFLAME ?? join(ROOT, "build", "sparkflame");
    const child = spawn(program, ["serve", "--data", folder, "--listen", "127.0.0.1:0", "--min-free-mib", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await new Promise((done, fail) => {
        createInterface({ input: child.stdout }).once("line", (text) => done([text]));
        child.once("exit", () => fail(new Error("the collector ended")));
    });
    return { address: line.replace("listening on ", ""), end: () => child.kill("SIGTERM") };
}

export async function post(address, body, parameters, headers = {}) {
    const answer = await fetch(`${address}/v1/recordings?${new URLSearchParams({ group: "etl", executor: "1", sequence: "0", ...parameters })}`,
                               { method: "POST", body, headers });
    assert.equal(answer.status, 201, await answer.text());
}

/** The page, when it shows what its address says; `problems` are errors of scripts and requests to other hosts. */
export async function openConsole(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 1000 }, ...options });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
        if (message.type() === "error") problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
        if (!request.url().startsWith(new URL(address).origin) && !/^(blob|data):/.test(request.url())) problems.push(`request: ${request.url()}`);
    });
    await page.goto(address, { waitUntil: "load", timeout: WAIT_MS });
    await eventually("the console is ready", () => page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    return { page, problems, close: () => context.close() };
}

function varint(value) {
    const bytes = [];
    for (let rest = BigInt(value); ; rest >>= 7n) {
        if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
        bytes.push(Number(rest & 127n) | 128);
    }
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const data = (field, content) => Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);

/** pprof of [stack from the root, seconds of CPU time], 100 samples a second. */
export function cpuProfile(stacks) {
    const strings = ["", "samples", "count", "cpu", "nanoseconds"], parts = [], places = new Map();
    for (const [kind, unit] of [[1, 2], [3, 4]]) parts.push(data(1, Buffer.concat([number(1, kind), number(2, unit)])));
    for (const [stack, seconds] of stacks) {
        const names = stack.split(";");
        for (const name of names) {
            if (places.has(name)) continue;
            const id = places.size + 1;
            places.set(name, id);
            strings.push(name);
            parts.push(data(5, Buffer.concat([number(1, id), number(2, strings.length - 1)])),
                       data(4, Buffer.concat([number(1, id), data(4, number(1, id))])));
        }
        const locations = names.reverse().map((name) => varint(places.get(name)));
        parts.push(data(2, Buffer.concat([data(1, Buffer.concat(locations)), data(2, Buffer.concat([varint(seconds * 100), varint(seconds * 1e9)]))])));
    }
    return Buffer.concat([...parts, ...strings.map((text) => data(6, Buffer.from(text)))]);
}
