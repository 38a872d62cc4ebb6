// bundle.mjs OUTPUT NAME: puts the style NAME.css and the script into page.html and allows exactly those two by their
// hashes. The script begins in src/main.ts for the page, src/NAME_main.ts for others.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const name = process.argv[3] ?? "page";
const entry = name === "page" ? "src/main.ts" : `src/${name}_main.ts`;
const common = { bundle: true, minify: true, write: false, logLevel: "warning", legalComments: "none", charset: "ascii" };
const styleOf = async (file) => (await build({ ...common, entryPoints: [join(here, `${file}.css`)] })).outputFiles[0].text.trim();
const styleText = await styleOf(name);
// The report shows flame graphs in shadow trees, with the page's style.
const define = { PAGE_STYLE: JSON.stringify(name === "report" ? await styleOf("page") : "") };
const script = await build({ ...common, entryPoints: [join(here, entry)], format: "iife", target: "es2022", define });
const scriptText = script.outputFiles[0].text.trim();
if (/<\/script|<!--/i.test(scriptText)) throw new Error("the script holds a text that would end its element");

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const policy = [
    "default-src 'none'", `script-src ${hash(scriptText)}`, `style-src ${hash(styleText)}`, "img-src data: blob:",
    "base-uri 'none'", "form-action 'none'",
    // The console asks the server that it came from, and shows that server's pictures in a frame.
    ...(name === "console" ? ["connect-src 'self'", "frame-src 'self'"] : []),
].join("; ");
const put = (page, mark, text) => {
    if (page.split(mark).length !== 2) throw new Error(`page.html must hold ${mark} once`);
    return page.replace(mark, () => text);
};
let page = readFileSync(join(here, "page.html"), "utf8");
page = put(page, "<!--policy-->", policy);
page = put(page, "<!--style-->", styleText);
page = put(page, "<!--script-->", scriptText);
// Else a browser asks the server for one.
if (name === "console") page = put(page, "<title>", '<link rel="icon" href="data:,">\n<title>');
writeFileSync(process.argv[2], page);
