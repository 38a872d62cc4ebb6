// The data of a fleet page (docs/SCALE.md), and how its numbers are written.
import { bytes, duration } from "./report_model.js";

export type FleetEvent = "cpu" | "wall" | "alloc";

export interface FleetWeights { cpu_ns: number; wall_ns: number; alloc_bytes: number }

export interface FleetDay extends FleetWeights { day: string }

export interface FleetGroup extends FleetWeights {
    group: string; cost?: number; applications: number; executors: number; runs_before: number; runs_now: number; by_day: number[]; command: string | null;
}

export interface FleetApplication extends FleetWeights {
    application: string | null; group: string; cost?: number; executors: number; first_day: string | null; last_day: string | null; command: string | null;
}

export interface FleetMethod { event: FleetEvent; method: string; self: number; total: number; by_day: number[]; command: string | null }

/** Shares of the group's CPU time, 0 to 1. */
export interface FleetChange {
    group: string; method: string; self_before: number; self_now: number; total_before: number; total_now: number; z: number; more_ns: number; cost?: number;
    command: string | null;
}

export interface Fleet extends FleetWeights {
    cost?: number; price_core_hour?: number; application_count: number; executor_count: number; main_event: FleetEvent; days: FleetDay[]; groups: FleetGroup[];
    before_from?: string; now_from?: string; now_to?: string; min_runs: number; slower_count: number; slower: FleetChange[]; methods: FleetMethod[];
    applications: FleetApplication[];
}

export const EVENTS: [FleetEvent, keyof FleetWeights, string][] = [["cpu", "cpu_ns", "CPU time"], ["wall", "wall_ns", "wall clock"], ["alloc", "alloc_bytes", "allocated"]];

export function keyOf(event: FleetEvent): keyof FleetWeights {
    return EVENTS.find(([name]) => name === event)![1];
}

/** "12.34 h", "1,234 h"; of less than a tenth of an hour "4.5 min". */
export function hours(ns: number): string {
    const value = ns / 3.6e12;
    if (value < 0.1) return duration(ns / 1e6);
    return `${value.toLocaleString("en", value < 1000 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumFractionDigits: 0 })} h`;
}

export function money(amount: number | undefined): string {
    return amount === undefined ? "–" : amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

export function weight(value: number, event: FleetEvent): string {
    return event === "alloc" ? bytes(value) : hours(value);
}

/** "12.3 %" */
export function share(part: number, whole: number): string {
    return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
}

const DAY_MS = 86_400_000;

/** Days since the first one. */
export function dayNumbers(days: FleetDay[]): number[] {
    const times = days.map(({ day }) => Date.parse(`${day}T00:00:00Z`));
    return times.map((time) => Math.round((time - times[0]!) / DAY_MS));
}

/** Of each day, the share of the whole; NaN where there is nothing. */
export function dailyShares(values: number[], wholes: number[]): number[] {
    return values.map((value, i) => wholes[i]! > 0 ? value / wholes[i]! : NaN);
}

/** The lines of a small chart, as points of a path for each stretch without a gap; from 0 to the largest value. */
export function trendPoints(values: number[], places: number[], width: number, height: number): [number, number][][] {
    const highest = values.reduce((most, value) => value > most ? value : most, 0), last = places[places.length - 1] ?? 0;
    const stretches: [number, number][][] = [[]];
    values.forEach((value, i) => {
        if (Number.isNaN(value)) {
            stretches.push([]);
            return;
        }
        const x = last > 0 ? places[i]! / last * width : width / 2, y = highest > 0 ? height - value / highest * height : height;
        stretches[stretches.length - 1]!.push([Math.round(10 * x) / 10, Math.round(10 * y) / 10]);
    });
    return stretches.filter((stretch) => stretch.length > 0);
}
