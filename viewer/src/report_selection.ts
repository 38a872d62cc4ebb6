// What can be compared with a click each: stages, tasks, executors and ranges of time.
import { element } from "./dom.js";
import type { Profile } from "./profile.js";
import { ofEachSet } from "./profile_parts.js";
import { duration, type Stage } from "./report_model.js";

/** Samples that belong together, and what people call them. */
export type Picked =
    | { kind: "stage"; name: string; stage: Stage }
    | { kind: "task"; name: string; task: string }
    | { kind: "executor"; name: string; executor: string }
    | { kind: "time"; name: string; range: [number, number] };

export const pickedStage = (stage: Stage): Picked => ({ kind: "stage", name: `stage ${stage.id}.${stage.attempt}`, stage });
export const pickedExecutor = (id: string): Picked => ({ kind: "executor", name: id === "driver" ? "driver" : `executor ${id}`, executor: id });
export const pickedTask = (tid: number, index: string): Picked => ({ kind: "task", name: `task ${index} (TID ${tid})`, task: String(tid) });

export function pickedTime(range: [number, number], start: number): Picked {
    return { kind: "time", name: `+${duration(Math.max(0, range[0] - start))} to +${duration(Math.max(0, range[1] - start))}`, range };
}

/** First and last tick of a span of time, or null where the profile knows no days. */
export function ticksOf(profile: Profile, range: [number, number] | null): [number, number] | null {
    const { time } = profile.meta;
    if (!range || !time?.absolute) return null;
    const tick = (ms: number): number => Math.min(Math.max(Math.floor((ms - time.start_ms) * 1e6 / time.tick_ns), 0), time.ticks - 1);
    return [tick(range[0]), tick(range[1])];
}

type Test = (row: number) => boolean;

function during(profile: Profile, range: [number, number] | null): Test {
    const ticks = ticksOf(profile, range);
    return (row) => {
        const tick = profile.rows.tick[row]! - 1;
        return ticks !== null && tick >= ticks[0] && tick <= ticks[1];
    };
}

function withLabels(profile: Profile, labels: string[], fits: (...values: string[]) => boolean): Test {
    const ofSet = ofEachSet(profile, labels, fits);
    return (row) => ofSet[profile.rows.set[row]!] ?? false;
}

/** True for the samples of a stage: by label, else those of its time. */
export function ofStage(profile: Profile, stage: Stage): Test {
    if (profile.meta.labels.includes("stage")) {
        return withLabels(profile, ["stage", "stage_attempt"], (id, attempt) => id === String(stage.id) && (attempt === "" || attempt === String(stage.attempt)));
    }
    return during(profile, stage.submitted_ms === null || stage.completed_ms === null ? null : [stage.submitted_ms, stage.completed_ms]);
}

export function rowsOf(profile: Profile, picked: Picked): Test {
    switch (picked.kind) {
    case "stage": return ofStage(profile, picked.stage);
    case "task": return withLabels(profile, ["task"], (task) => task === picked.task);
    case "executor": return withLabels(profile, ["executor"], (executor) => executor === picked.executor);
    case "time": return during(profile, picked.range);
    }
}

/** Collects two things to compare: the first click chooses one side, the second the other. */
export class ComparisonPicker {
    readonly host = element("div", { id: "picked", role: "status", hidden: true });
    private first: Picked | null = null;
    private readonly buttons = new Set<{ button: HTMLButtonElement; name: () => string | undefined }>();

    constructor(private readonly compare: (before: Picked, after: Picked) => void) {}

    /** A button that picks what `picked` says when it is clicked. */
    button(picked: () => Picked | null, text = "⇄"): HTMLButtonElement {
        const label = (): string => `Compare ${picked()?.name ?? "this"} with …`;
        const button = element("button", { type: "button", class: "compare", "aria-pressed": "false", title: label(), "aria-label": label(), click: () => {
            const chosen = picked();
            if (chosen) this.pick(chosen);
        } }, text);
        this.buttons.add({ button, name: () => picked()?.name });
        return button;
    }

    private pick(picked: Picked): void {
        const { first } = this;
        if (first === null) this.first = picked;
        else this.first = null;
        this.show();
        if (first !== null && first.name !== picked.name) this.compare(first, picked);
    }

    private show(): void {
        for (const entry of this.buttons) {
            if (!entry.button.isConnected) this.buttons.delete(entry);
            else entry.button.setAttribute("aria-pressed", String(this.first !== null && entry.name() === this.first.name));
        }
        this.host.hidden = this.first === null;
        const cancel = element("button", { type: "button", class: "choice", click: () => {
            this.first = null;
            this.show();
        } }, "Cancel");
        if (this.first) this.host.replaceChildren(element("strong", {}, this.first.name), " compared with …: choose a second stage, task, executor or time by its ⇄. ", cancel);
    }
}
