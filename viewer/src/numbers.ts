// Numbers as people read them.
import type { TimeScale } from "./profile.js";

const STEPS: Record<string, [number, string][]> = {
    nanoseconds: [[3600e9, "h"], [60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]],
    bytes: [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
};

function digits(value: number): string {
    const size = Math.abs(value);
    if (size === 0) return "0";
    return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function formatCount(value: number): string {
    const rounded = Math.abs(value) >= 100 || Number.isInteger(value) ? Math.round(value) : Number(value.toFixed(2));
    return String(rounded).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}

export function formatValue(value: number, unit: string): string {
    const steps = STEPS[unit];
    if (!steps) return formatCount(value);
    for (const [size, name] of steps) if (Math.abs(value) >= size) return `${digits(value / size)} ${name}`;
    return `0 ${steps[steps.length - 1]![1]}`;
}

export function formatShare(part: number, whole: number): string {
    if (!(whole > 0)) return "0 %";
    const percent = (part / whole) * 100;
    const size = Math.abs(percent);
    if (size > 0 && size < 0.01) return percent < 0 ? "> −0.01 %" : "< 0.01 %";
    return `${percent.toFixed(size >= 99.995 ? 0 : 2)} %`;
}

export function formatSigned(text: string, value: number): string {
    return value > 0 ? `+${text}` : text.replace("-", "−");
}

const DAY_NS = 86400e9;

/** The time of day, with the date where the recording is longer than a day. */
function clockTime(iso: string, time: TimeScale): string {
    const clock = iso.slice(11, 23).replace(/\.000$/, "");
    if (time.ticks * time.tick_ns <= DAY_NS) return clock;
    return clock === "00:00:00" ? iso.slice(0, 10) : `${iso.slice(5, 10)} ${clock.replace(/:00$/, "")}`;
}

/** A moment of the recording: clock time if it is known, else the time since its start, else the number of the
 * sample. */
export function formatMoment(tick: number, time: TimeScale): string {
    const offsetNs = tick * time.tick_ns;
    if (time.unit !== undefined) return formatCount(offsetNs);
    // Rounded: what lies a fraction before a whole second because numbers are not exact is that second.
    if (time.absolute) return clockTime(new Date(Math.round(time.start_ms + offsetNs / 1e6)).toISOString(), time);
    const seconds = offsetNs / 1e9;
    if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 3 : 2))} s`;
    const rest = Number((seconds % 60).toFixed(1));
    return `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ""}`;
}

/** "1.20 s – 3.40 s"; `to` is the tick behind the last. */
export function formatRange(from: number, to: number, time: TimeScale): string {
    return `${formatMoment(from, time)} – ${formatMoment(to, time)}`;
}
