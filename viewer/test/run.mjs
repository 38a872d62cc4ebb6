// Bundles the tests (they are TypeScript) and runs them with node's own runner.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith(".test.ts")).sort();
const folder = mkdtempSync(join(tmpdir(), "sparkflame-viewer-test-"));
try {
    await build({
        entryPoints: tests.map((name) => join(here, name)),
        outdir: folder, outExtension: { ".js": ".mjs" },
        bundle: true, format: "esm", platform: "node", target: "node18", logLevel: "warning",
    });
    const files = tests.map((name) => join(folder, name.replace(/\.ts$/, ".mjs")));
    const result = spawnSync(process.execPath, ["--test", ...files], { stdio: ["ignore", "inherit", "inherit"] });
    process.exitCode = result.status ?? 1;
} finally {
    rmSync(folder, { recursive: true, force: true });
}
