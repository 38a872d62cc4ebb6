// A browser, a small server and the command, for tests of pictures. Every wait is for a condition and long.
import { chromium } from "playwright-core";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
export const ROOT = resolve(here, "../..");
export const WAIT_MS = 60_000;
const TYPES = { ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".js": "text/javascript" };
const FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--disable-features=Translate,MediaRouter",
];

/** The built command: $SPARKFLAME, or the one of the build folder. */
export function sparkflame(args, input = "") {
    const program = process.env.SPARKFLAME ?? join(ROOT, "build", "sparkflame");
    const result = spawnSync(program, args, { input, maxBuffer: 1 << 30 });
    if (result.status !== 0) {
        throw new Error(`${program} ${args.join(" ")} ended with ${result.status ?? result.signal ?? result.error}: ${result.stderr}`);
    }
    return result.stdout;
}

export function scratchFolder() {
    const folder = mkdtempSync(join(tmpdir(), "sparkflame-browser-"));
    return {
        path: (name) => join(folder, name),
        write(name, content) {
            writeFileSync(join(folder, name), content);
            return join(folder, name);
        },
        remove: () => rmSync(folder, { recursive: true, force: true }),
    };
}

/** Serves files of one folder on a free port of this machine; `headers` go with each. */
export async function serve(scratch, headers = {}) {
    const server = createServer((request, response) => {
        const name = decodeURIComponent(new URL(request.url, "http://localhost").pathname).slice(1);
        if (name === "favicon.ico") {
            response.writeHead(204).end();
            return;
        }
        const file = scratch.path(name);
        if (name.includes("/") || !existsSync(file)) {
            response.writeHead(404).end();
            return;
        }
        const type = TYPES[name.slice(name.lastIndexOf("."))] ?? "application/octet-stream";
        response.writeHead(200, { "content-type": type, ...headers }).end(readFileSync(file));
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address();
    return {
        address: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
        close: () => new Promise((done) => {
            server.closeAllConnections?.();
            server.close(done);
        }),
    };
}

/** A browser of its own, with a new profile folder that goes when it is closed. */
export async function launch() {
    return chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: FLAGS, timeout: WAIT_MS,
        chromiumSandbox: false, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false,
    });
}

/** A page that collects what goes wrong in it; problems() lists errors and anything that it tried to load. */
export async function openPage(browser, address, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const problems = [];
    page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
    page.on("console", (message) => {
        if (message.type() === "error" && !message.text().includes("favicon")) problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
        const url = request.url();
        if (url !== address.split("#")[0] && !url.startsWith("blob:") && !url.startsWith("data:") && !url.endsWith("/favicon.ico")) {
            problems.push(`request: ${url}`);
        }
    });
    await page.goto(address, { waitUntil: "load", timeout: WAIT_MS });
    return { page, problems, close: () => context.close() };
}

/** Waits until `probe` (run here, may be async) gives what is expected; says what was seen last otherwise. */
export async function eventually(what, probe, expected, { within = WAIT_MS } = {}) {
    const fits = typeof expected === "function" ? expected
        : expected instanceof RegExp ? (seen) => expected.test(String(seen))
        : (seen) => JSON.stringify(seen) === JSON.stringify(expected);
    const end = Date.now() + within;
    let seen;
    for (;;) {
        try {
            seen = await probe();
            if (fits(seen)) return seen;
        } catch (error) {
            seen = error;
        }
        if (Date.now() > end) break;
        await new Promise((done) => setTimeout(done, 50));
    }
    const shown = seen instanceof Error ? seen.stack : JSON.stringify(seen);
    throw new Error(`${what}: expected ${typeof expected === "function" ? "a fitting value" : expected}, saw ${shown}`);
}
