// make_pictures.mjs BUILD FOLDER: remakes the pictures of the README from what `make demo` left in BUILD: the report,
// one stage with Java and Python in one flame graph, and a difference. Needs pngquant.
import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { eventually, launch, openPage, ROOT, scratchFolder, sparkflame } from "../tests/browser/browser.mjs";

const [build, folder] = process.argv.slice(2).map((path) => resolve(path));
const recordings = join(build, "demo", "recordings");
const COLORS = "64";
/** Where the work of a shuffle stage's task begins. */
const ROOT_FRAME = "ShuffleWriteProcessor.write";

/** Id of the stage with the most samples that have this function. */
function stageOf(name) {
    const lines = sparkflame(["convert", "-q", "-e", "cpu", "-f", "folded", "--by", "stage", recordings]).toString().trim().split("\n");
    const samples = new Map();
    for (const line of lines.filter((text) => text.startsWith("stage ") && text.includes(`;${name}`))) {
        const stage = line.slice(6, line.indexOf(";"));
        samples.set(stage, (samples.get(stage) ?? 0) + Number(line.slice(line.lastIndexOf(" "))));
    }
    return [...samples].sort((a, b) => b[1] - a[1])[0][0];
}

async function picture(browser, page, name, height, prepare = async () => {}) {
    const opened = await openPage(browser, pathToFileURL(page).href, { viewport: { width: 1200, height }, colorScheme: "light" });
    await eventually("the page is ready", () => opened.page.evaluate(() => document.documentElement.dataset.ready ?? ""), "1");
    await prepare(opened.page);
    // Stages are named after lines of code, with the path of the checkout.
    await opened.page.evaluate((root) => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) texts.currentNode.nodeValue = texts.currentNode.nodeValue.replaceAll(`${root}/`, "");
    }, ROOT);
    const file = join(folder, name);
    await opened.page.screenshot({ path: file });
    await opened.close();
    execFileSync("pngquant", ["--force", "--strip", "--speed", "1", "--output", file, COLORS, file]);
}

const scratch = scratchFolder();
const browser = await launch();
try {
    const rows = stageOf("digits"), batches = stageOf("spread");
    // Frames above the root are the same for every task; frames without a share worth seeing would make the stacks
    // too high.
    const selected = ["-q", "-e", "cpu", "--stitch", "--base", ROOT_FRAME, "--min-share", "1", "--drop-frames", "importlib|zipimport"];
    const stage = (id, file) => sparkflame(["convert", ...selected, "--stage", id, recordings, "-o", scratch.path(file)]);
    stage(rows, "python_udf.jfr");
    stage(batches, "pandas_udf.jfr");
    sparkflame(["flame", "-q", scratch.path("python_udf.jfr"), "--names", "readable", "--title", `Stage ${rows}: Java and Python`,
                "--view", "icicle=1&color=kind", "-o", scratch.path("stage.html")]);
    sparkflame(["diff", "-q", "-n", scratch.path("python_udf.jfr"), scratch.path("pandas_udf.jfr"), "--names", "readable",
                "--title", "Python UDF → pandas UDF", "--view", "icicle=1", "-o", scratch.path("difference.html")]);
    await picture(browser, join(build, "demo.html"), "report.png", 1085);
    await picture(browser, scratch.path("stage.html"), "stage.png", 760);
    await picture(browser, scratch.path("difference.html"), "difference.png", 760);
} finally {
    await browser.close();
    scratch.remove();
}
