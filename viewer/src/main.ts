// Reads the data part of the page and starts the viewer.
import { decodeBase64, decompress } from "./bytes.js";
import { decodeProfile } from "./profile.js";
import { App } from "./app.js";

async function start(): Promise<void> {
    const data = document.getElementById("data");
    const host = document.getElementById("page")!;
    try {
        if (!data) throw new Error("the page contains no data");
        performance.mark("sparkflame-parsed");
        const bytes = await decompress(decodeBase64(data.textContent!.trim()), data.dataset["encoding"] ?? "identity");
        // The text is no longer needed, and large.
        data.remove();
        performance.mark("sparkflame-unpacked");
        const profile = decodeProfile(bytes);
        performance.mark("sparkflame-decoded");
        new App(profile, host);
        performance.mark("sparkflame-ready");
        requestAnimationFrame(() => requestAnimationFrame(() => {
            performance.mark("sparkflame-drawn");
            document.documentElement.dataset["ready"] = "1";
        }));
    } catch (error) {
        const text = document.createElement("p");
        text.id = "failure";
        text.setAttribute("role", "alert");
        text.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}.`;
        host.replaceChildren(text);
        document.documentElement.dataset["ready"] = "failed";
    }
}

void start();
