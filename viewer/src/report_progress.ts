// How far an application is that has not ended, and a page that follows it.
import { element } from "./dom.js";
import { duration, extent, moment, type Report, span } from "./report_model.js";

const SCROLL_KEY = "sparkflame-scroll";

function bar(name: string, done: number, whole: number, rest = ""): HTMLElement {
    return element("p", {}, element("progress", { max: Math.max(whole, 1), value: done, "aria-label": name }),
                   `${name}: ${done.toLocaleString("en")} of ${whole.toLocaleString("en")} tasks${rest}`);
}

/** The jobs and stages that run; null if the application has ended. */
export function progressOf(report: Report): HTMLElement | null {
    const { application, jobs, stages } = report;
    if (application.start_ms === null || application.end_ms !== null) return null;
    const now = extent(report)[1];
    const running = jobs.filter(({ status }) => status === "running").map((job) => bar(`job ${job.id}`, job.succeeded, job.tasks - job.skipped));
    const active = stages.filter(({ status }) => status === "active").map((stage) => {
        const left = stage.tasks - stage.succeeded, took = span(stage.submitted_ms, now);
        const rest = stage.succeeded > 0 && left > 0 && took !== null ? `, about ${duration(took * left / stage.succeeded)} left at this pace` : "";
        return bar(`stage ${stage.id}.${stage.attempt}`, stage.succeeded, stage.tasks, rest);
    });
    return element("div", { id: "progress" }, element("p", {}, element("strong", {}, "Not ended"), `; last event ${moment(now)}, ${duration(span(application.start_ms, now))} after the start`),
                   ...running, ...active);
}

/** Reads the page again, unless somebody is at work in it, and stays where it was scrolled to. */
export function followRun(report: Report): void {
    try {
        const place = sessionStorage.getItem(SCROLL_KEY);
        sessionStorage.removeItem(SCROLL_KEY);
        if (place !== null) window.scrollTo(0, Number(place));
    } catch {
        // Some browsers keep nothing for pages from disk.
    }
    if (!report.refresh_seconds) return;
    let isPaused = false;
    const pause = element("button", { type: "button", class: "choice", "aria-pressed": "false", click: () => {
        isPaused = !isPaused;
        pause.setAttribute("aria-pressed", String(isPaused));
    } }, "Pause");
    document.getElementById("progress")?.append(element("p", { class: "label" }, `This page is read again every ${report.refresh_seconds} s. `, pause));
    window.setInterval(() => {
        if (isPaused || document.hidden) return;
        try {
            sessionStorage.setItem(SCROLL_KEY, String(window.scrollY));
        } catch {
            // Then the page begins at its top.
        }
        location.reload();
    }, report.refresh_seconds * 1000);
}
