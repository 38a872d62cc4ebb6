// page_times.mjs - what measuring pages in Chromium has in common.
import { statSync } from "node:fs";

const RUNS = Number(process.env.RUNS ?? 5);

/** Processor time of the pages' own processes. */
export async function rendererSeconds(browser) {
    const client = await browser.newBrowserCDPSession();
    const { processInfo } = await client.send("SystemInfo.getProcessInfo");
    await client.detach();
    return processInfo.filter((one) => one.type === "renderer").reduce((sum, one) => sum + one.cpuTime, 0);
}

/** Measures each page of the command line several times and prints the least of each figure, in milliseconds. */
export async function printBest(measure) {
    for (const file of process.argv.slice(2)) {
        const best = {};
        for (let run = 0; run < RUNS; run++) {
            for (const [name, value] of Object.entries(await measure(file))) best[name] = Math.min(best[name] ?? Infinity, value);
        }
        const cells = Object.entries(best).map(([name, value]) => `${name} ${value.toFixed(0)} ms`).join(", ");
        console.log(`${file} (${(statSync(file).size / 1e6).toFixed(2)} MB), best of ${RUNS}: ${cells}`);
    }
}
