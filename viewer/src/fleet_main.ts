// The page of a fleet: cost by group, what became slower, the methods that cost most day by day, applications.
import { decodeBase64, decompress } from "./bytes.js";
import { copyText, element } from "./dom.js";
import {
    dailyShares, dayNumbers, EVENTS, type Fleet, type FleetApplication, type FleetChange, type FleetEvent, type FleetGroup, type FleetMethod, type FleetWeights, hours,
    keyOf, money, share, trendPoints, weight,
} from "./fleet_model.js";
import { followTheme, section, showSections } from "./report_frame.js";
import { bytes } from "./report_model.js";
import { type Column, sortableTable } from "./report_table.js";

const SVG = "http://www.w3.org/2000/svg", TREND = { width: 120, height: 24, edge: 3 };

function drawing(tag: string, attributes: Record<string, string | number>, ...children: Element[]): SVGElement {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...children);
    return made;
}

/** A small line with what a screen reader says of it. */
function trend(values: number[], fleet: Fleet, text: (value: number) => string): HTMLElement {
    const { width, height, edge } = TREND;
    const known = values.filter((value) => !Number.isNaN(value)), days = fleet.days;
    const label = known.length === 0 ? "not known" : `${days[0]!.day}: ${text(known[0]!)}; ${days[days.length - 1]!.day}: ${text(known[known.length - 1]!)}; at most ${text(Math.max(...known))}`;
    const parts = trendPoints(values, dayNumbers(days), width, height).map((points) => points.length === 1
        ? drawing("circle", { cx: points[0]![0], cy: points[0]![1], r: 2 }) : drawing("path", { d: `M${points.map((point) => point.join(" ")).join("L")}` }));
    const picture = drawing("svg", { class: "trend", role: "img", "aria-label": label, width: width + 2 * edge, height: height + 2 * edge,
                                     viewBox: `${-edge} ${-edge} ${width + 2 * edge} ${height + 2 * edge}` }, drawing("title", {}), ...parts);
    picture.firstElementChild!.textContent = label;
    return element("span", {}, picture);
}

/** A command line that shows more, and a button that copies it. */
function commandOf(command: string | null): HTMLElement | null {
    if (command === null) return null;
    const copied = element("span", { class: "label", role: "status" });
    const copy = async (): Promise<void> => {
        copied.textContent = await copyText(command) ? " copied" : " not copied";
    };
    return element("details", { class: "command" }, element("summary", {}, "command"), element("code", {}, command),
        element("button", { type: "button", click: () => void copy() }, "Copy"), copied);
}

const commandColumn = <Row extends { command: string | null }>(): Column<Row> => ({ title: "more", text: () => "", node: (row) => commandOf(row.command) });

function weightColumns<Row extends FleetWeights>(fleet: Fleet): Column<Row>[] {
    return EVENTS.filter(([, key]) => fleet[key] > 0).map(([event, key, title]) => ({ title, text: (row: Row) => weight(row[key], event), number: (row: Row) => row[key] }));
}

function costColumn<Row extends { cost?: number }>(fleet: Fleet): Column<Row>[] {
    return fleet.price_core_hour === undefined ? [] : [{ title: "cost", text: (row) => money(row.cost), number: (row) => row.cost ?? 0 }];
}

function summary(fleet: Fleet): HTMLElement {
    const facts: [string, string][] = [
        ["days", fleet.days.length === 0 ? "–" : `${fleet.days[0]!.day} to ${fleet.days[fleet.days.length - 1]!.day}`], ["groups", String(fleet.groups.length)],
        ["applications", fleet.application_count.toLocaleString("en")], ["executors", fleet.executor_count.toLocaleString("en")],
        ["CPU time", hours(fleet.cpu_ns)], ["wall clock", hours(fleet.wall_ns)], ["allocated", bytes(fleet.alloc_bytes)],
    ];
    if (fleet.cost !== undefined) facts.push(["cost of the CPU time", money(fleet.cost)]);
    return section("summary", "Summary", element("dl", { class: "facts" },
        ...facts.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text)))));
}

function groups(fleet: Fleet): HTMLElement {
    const key = keyOf(fleet.main_event);
    const columns: Column<FleetGroup>[] = [
        { title: "group", text: (row) => row.group, wide: true }, ...weightColumns<FleetGroup>(fleet), ...costColumn<FleetGroup>(fleet),
        { title: "share", text: (row) => share(row[key], fleet[key]), number: (row) => row[key] },
        { title: "by day", text: () => "", node: (row) => trend(row.by_day, fleet, (value) => weight(value, fleet.main_event)) },
        { title: "applications", text: (row) => row.applications.toLocaleString("en"), number: (row) => row.applications },
        { title: "executors", text: (row) => row.executors.toLocaleString("en"), number: (row) => row.executors }, commandColumn<FleetGroup>(),
    ];
    return section("groups", "Cost by group", sortableTable("group-table", "Groups", columns, fleet.groups));
}

const percent = (part: number): string => `${(100 * part).toFixed(2)} %`;

function slower(fleet: Fleet): HTMLElement {
    const columns: Column<FleetChange>[] = [
        { title: "group", text: (row) => row.group }, { title: "method", text: (row) => row.method, wide: true },
        { title: "before", text: (row) => percent(row.self_before), number: (row) => row.self_before }, { title: "now", text: (row) => percent(row.self_now), number: (row) => row.self_now },
        { title: "z", text: (row) => row.z.toFixed(1), number: (row) => row.z },
        { title: "extra", text: (row) => hours(row.more_ns), number: (row) => row.more_ns }, ...costColumn<FleetChange>(fleet),
        { title: "with callees", text: (row) => `${percent(row.total_before)} → ${percent(row.total_now)}`, number: (row) => row.total_now - row.total_before },
        commandColumn<FleetChange>(),
    ];
    const few = fleet.groups.filter((group) => group.runs_before < fleet.min_runs || group.runs_now < fleet.min_runs);
    const periods = fleet.now_from === undefined ? "The samples have no times, so that nothing can be compared."
        : `The seven days from ${fleet.now_from} to ${fleet.now_to} against those from ${fleet.before_from} on: methods that take a larger share of their group's CPU time, by more than its applications differ among each other.`;
    return section("slower", "Slower than the week before", element("p", { id: "periods", class: "label" }, periods),
        fleet.slower.length === 0 ? element("p", { id: "nothing-slower" }, "Nothing.") : sortableTable("slower-table", "What became slower", columns, fleet.slower),
        fleet.slower_count > fleet.slower.length ? element("p", { class: "label" }, `The first ${fleet.slower.length} of ${fleet.slower_count}.`) : null,
        few.length === 0 ? null : element("p", { id: "few-runs", class: "label" }, `Too few runs to compare: ${few.map((group) => `${group.group} (${group.runs_before} before, ${group.runs_now} now)`).join(", ")}.`));
}

function methods(fleet: Fleet, event: FleetEvent, title: string): HTMLElement | null {
    const rows = fleet.methods.filter((method) => method.event === event), key = keyOf(event);
    if (rows.length === 0) return null;
    const wholes = fleet.days.map((day) => day[key]);
    const columns: Column<FleetMethod>[] = [
        { title: "method", text: (row) => row.method, wide: true }, { title: "self", text: (row) => weight(row.self, event), number: (row) => row.self },
        { title: "share", text: (row) => share(row.self, fleet[key]), number: (row) => row.self },
        { title: "share by day", text: () => "", node: (row) => trend(dailyShares(row.by_day, wholes), fleet, percent) },
        { title: "total", text: (row) => weight(row.total, event), number: (row) => row.total },
        { title: "share of total", text: (row) => share(row.total, fleet[key]), number: (row) => row.total }, commandColumn<FleetMethod>(),
    ];
    return section(`methods-${event}`, `Methods by ${title}`, sortableTable(`${event}-table`, `Methods by ${title}`, columns, rows));
}

function applications(fleet: Fleet): HTMLElement {
    const columns: Column<FleetApplication>[] = [
        { title: "application", text: (row) => row.application ?? "(unknown)", wide: true }, { title: "group", text: (row) => row.group },
        ...weightColumns<FleetApplication>(fleet), ...costColumn<FleetApplication>(fleet),
        { title: "executors", text: (row) => row.executors.toLocaleString("en"), number: (row) => row.executors },
        { title: "first day", text: (row) => row.first_day ?? "–" }, { title: "last day", text: (row) => row.last_day ?? "–" }, commandColumn<FleetApplication>(),
    ];
    const rest = fleet.application_count - fleet.applications.length;
    return section("applications", "Applications", sortableTable("application-table", "Applications", columns, fleet.applications),
        rest > 0 ? element("p", { class: "label" }, `and ${rest.toLocaleString("en")} that cost less.`) : null);
}

function show(fleet: Fleet, host: HTMLElement): void {
    const parts = [summary(fleet), groups(fleet), slower(fleet), ...EVENTS.map(([event, , title]) => methods(fleet, event, event === "alloc" ? "allocated bytes" : title)), applications(fleet)].filter((part) => part !== null);
    parts.push(element("section", { id: "notes" }, element("h2", {}, "Notes"), element("p", { class: "label" }, "Days are those of UTC. FOLDER in commands stands for the recordings.")));
    showSections(host, "Fleet", parts, parts.slice(0, -1));
}

async function start(): Promise<void> {
    const data = document.getElementById("data"), host = document.getElementById("page")!;
    followTheme();
    try {
        if (!data) throw new Error("the page contains no data");
        const packed = await decompress(decodeBase64(data.textContent!.trim()), data.dataset["encoding"] ?? "identity");
        data.remove();
        show(JSON.parse(new TextDecoder().decode(packed)) as Fleet, host);
        document.documentElement.dataset["ready"] = "1";
    } catch (error) {
        host.replaceChildren(element("p", { id: "failure", role: "alert" }, `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}.`));
        document.documentElement.dataset["ready"] = "failed";
    }
}

void start();
