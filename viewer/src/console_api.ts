// What the console asks the collector for.

export interface Group {
    group: string;
    applications: number;
    recordings: number;
    bytes: number;
    first_ms: number;
    last_ms: number;
}

export interface Application extends Group {
    application: string;
    attempt: string;
    executors: number;
}

export interface Step {
    time_ms: number;
    recordings: number;
    bytes: number;
    executors: number;
}

export interface Series {
    from_ms: number;
    to_ms: number;
    step_ms: number;
    series: Step[];
}

export interface Label {
    name: string;
    values: string[];
}

/** The JSON of a path; throws an Error with what the collector says is wrong. */
export async function ask<Answer>(path: string): Promise<Answer> {
    const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text) as Answer;
    let reason = `status ${answer.status}`;
    try {
        reason = (JSON.parse(text) as { error: string }).error;
    } catch {
        // A proxy's own page.
    }
    throw new Error(reason);
}
