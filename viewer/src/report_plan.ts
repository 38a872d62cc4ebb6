// The picture of a SQL plan: operators as boxes with rows, time and share, edges as wide as the logarithm of their
// rows. The wheel scrolls the page; with Ctrl, or a pinch, it zooms; dragging moves the picture.
import { element } from "./dom.js";
import { BOX_HEIGHT, BOX_WIDTH, edgeWidth, type Cluster, layPlan, type PlanBox, type PlanLayout, rowsOfOperator, sharesOf, timeOfOperator } from "./plan_layout.js";
import { duration, type Operator, percent, type Query } from "./report_model.js";

const LEAST_SCALE = 0.1, MOST_SCALE = 2, FIRST_LEAST = 0.55, STEP = 1.25;
const LETTERS = 24, HOT_LETTERS = 16, DETAIL_LETTERS = 31;
/** Below this share of the query nothing is called hot. */
const LEAST_HOT = 0.05;

/** What a picture needs of the query's samples, and of the page. */
export interface PlanHooks {
    samples: Map<number, number>;
    whole: number;
    /** All that is known of an operator, with links. */
    describe(operator: number): Node[];
}

function svg(tag: string, attributes: Record<string, string | number>, ...children: (Node | string)[]): SVGElement {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...children);
    return made;
}

const shortened = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function countText(rows: number): string {
    const units = ["", " k", " M", " G", " T"];
    let unit = 0;
    for (; rows >= 10_000 && unit < units.length - 1; unit++) rows /= 1000;
    return `${unit === 0 ? rows.toLocaleString("en") : rows.toFixed(rows < 100 ? 1 : 0)}${units[unit]}`;
}

export class PlanPicture {
    readonly host: HTMLElement;
    private readonly frame = element("div", { class: "plan-frame", role: "group", "aria-label": "Plan; arrow keys go from operator to operator" });
    private readonly picture: SVGElement;
    private readonly details = element("div", { class: "plan-details", "aria-live": "polite" });
    private readonly layout: PlanLayout;
    private readonly shares: Float64Array;
    private readonly nodes: SVGElement[] = [];
    /** Index of the hottest box or cluster's first box. */
    private readonly hottest: number;
    private readonly hotOperator: number;
    private scale = 1;
    private chosen = -1;

    constructor(private readonly query: Query, private readonly hooks: PlanHooks) {
        const { operators } = query;
        this.layout = layPlan(operators);
        this.shares = sharesOf(operators, this.layout, hooks.samples, hooks.whole);
        this.hotOperator = this.shares.reduce((best, share, i) => (share >= LEAST_HOT && share > (this.shares[best] ?? 0) ? i : best), -1);
        const cluster = this.layout.clusters.findIndex(({ operator }) => operator === this.hotOperator);
        this.hottest = this.layout.boxes.findIndex((box) => box.operator === this.hotOperator || (cluster >= 0 && box.cluster === cluster));
        this.picture = this.draw();
        this.frame.append(this.picture);
        this.host = element("div", { class: "plan-picture" }, this.tools(), this.frame, this.details);
        this.listen();
        this.choose(Math.max(this.hottest, 0), false);
        // Its size is known when it is in the page.
        const sized = new ResizeObserver(() => {
            if (this.frame.clientWidth === 0) return;
            sized.disconnect();
            this.fit();
            this.showHottest();
        });
        sized.observe(this.frame);
    }

    private tools(): HTMLElement {
        const button = (text: string, title: string, click: () => void): HTMLElement => element("button", { type: "button", class: "choice", title, "aria-label": title, click }, text);
        return element("div", { class: "choices", role: "group", "aria-label": "Size of the plan" },
            button("−", "Smaller", () => this.zoom(this.scale / STEP)), button("+", "Larger", () => this.zoom(this.scale * STEP)),
            button("Whole plan", "Show the whole plan", () => this.zoom(this.fitting())),
            ...(this.hottest < 0 ? [] : [button("Hottest", "Go to the operator that took most", () => {
                this.zoom(Math.max(this.scale, 0.8));
                this.choose(this.hottest, true);
                this.showHottest();
            })]),
            element("span", { class: "label" }, this.hooks.samples.size > 0 ? "shares: of the samples" : "shares: of the time that Spark measured"));
    }

    private draw(): SVGElement {
        const { width, height, boxes, clusters } = this.layout;
        const group = svg("g", {});
        for (const { operator, x, y, width: wide, height: high } of clusters) {
            const isHot = operator === this.hotOperator;
            if (wide > 0) group.append(svg("rect", { class: isHot ? "plan-cluster hot" : "plan-cluster", x, y, width: wide, height: high, rx: 8 }));
        }
        for (const box of boxes) for (const input of box.inputs) group.append(this.edge(boxes[input]!, box));
        for (const cluster of clusters) if (cluster.width > 0) group.append(this.clusterNote(cluster));
        boxes.forEach((box, i) => group.append(this.nodes[i] = this.box(box, i)));
        return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` }, group);
    }

    private clusterNote({ operator, x, y }: Cluster): SVGElement {
        const share = this.shares[operator]!, time = timeOfOperator(this.query.operators[operator]!.metrics);
        const text = ["generated code", ...(time > 0 ? [duration(time)] : []), ...(share >= 0.005 ? [`${percent(share, 1)} of its own`] : [])].join(" · ");
        return svg("text", { class: operator === this.hotOperator ? "plan-note plan-hot-note" : "plan-note", x: x + 8, y: y + 13 }, text);
    }

    private edge(from: PlanBox, to: PlanBox): SVGElement {
        const x1 = from.x + BOX_WIDTH / 2, y1 = from.y + BOX_HEIGHT, x2 = to.x + BOX_WIDTH / 2 + (from.x > to.x ? BOX_WIDTH / 4 : 0), y2 = to.y;
        const middle = (y1 + y2) / 2;
        const title = from.rows === null ? "rows unknown" : `${from.rows.toLocaleString("en")} rows`;
        const line = svg("path", { class: from.rows === null ? "plan-edge unknown" : "plan-edge", "stroke-width": edgeWidth(from.rows).toFixed(1),
                                   d: `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` }, svg("title", {}, title));
        if (from.rows === null) return line;
        return svg("g", {}, line, svg("text", { class: "plan-note", x: x1 + edgeWidth(from.rows) / 2 + 5, y: y1 + 14 }, countText(from.rows)));
    }

    private box(box: PlanBox, number: number): SVGElement {
        const operator = this.query.operators[box.operator]!, name = operator.name ?? "?";
        const share = this.shares[box.operator]!, facts = this.facts(operator, share), isHot = box.operator === this.hotOperator;
        const place = { x: box.x, y: box.y, width: BOX_WIDTH, height: BOX_HEIGHT, rx: 6 };
        const line = (y: number, kind: string, text: string): SVGElement => svg("text", { class: kind, x: box.x + 9, y: box.y + y }, text);
        const rest = (operator.detail ?? "").replace(name, "").trim();
        return svg("g", { class: isHot ? "plan-box hot" : "plan-box", role: "button", tabindex: "-1", "data-box": number,
                          "aria-label": [name, ...facts, ...(isHot ? ["hottest"] : [])].join(", ") },
                   svg("title", {}, operator.detail ?? name), svg("rect", place), svg("rect", { ...place, class: "plan-heat", "fill-opacity": (0.75 * share).toFixed(3) }),
                   line(18, "plan-name", shortened(name, isHot ? HOT_LETTERS : LETTERS)),
                   ...(isHot ? [svg("text", { class: "plan-hot", x: box.x + BOX_WIDTH - 8, y: box.y + 18 }, "hottest")] : []),
                   line(34, "plan-note", shortened(rest, DETAIL_LETTERS)), line(51, "plan-facts", facts.join(" · ")));
    }

    private facts(operator: Operator, share: number): string[] {
        const rows = rowsOfOperator(operator.metrics), time = timeOfOperator(operator.metrics);
        return [...(rows === null ? [] : [`${countText(rows)} row${rows === 1 ? "" : "s"}`]), ...(time >= 1 ? [duration(time)] : []), ...(share >= 0.005 ? [percent(share, 1)] : [])];
    }

    /** The whole plan in the frame. */
    private fitting(): number {
        const high = window.innerHeight * 0.7;
        return Math.min(1, this.frame.clientWidth / this.layout.width, Math.max(high, 200) / this.layout.height);
    }

    /** At first: the width, as long as it can be read. */
    private fit(): void {
        this.zoom(Math.max(Math.min(1, this.frame.clientWidth / this.layout.width), FIRST_LEAST));
    }

    /** The middle of the frame stays where it is. */
    private zoom(scale: number): void {
        const { frame } = this, before = this.scale;
        const x = (frame.scrollLeft + frame.clientWidth / 2) / before, y = (frame.scrollTop + frame.clientHeight / 2) / before;
        this.scale = Math.min(Math.max(scale, LEAST_SCALE), MOST_SCALE);
        this.picture.setAttribute("width", String(this.layout.width * this.scale));
        this.picture.setAttribute("height", String(this.layout.height * this.scale));
        frame.scrollLeft = x * this.scale - frame.clientWidth / 2;
        frame.scrollTop = y * this.scale - frame.clientHeight / 2;
    }

    private showHottest(): void {
        const box = this.layout.boxes[Math.max(this.hottest, 0)];
        if (!box) return;
        this.frame.scrollLeft = (box.x + BOX_WIDTH / 2) * this.scale - this.frame.clientWidth / 2;
        this.frame.scrollTop = (box.y + BOX_HEIGHT / 2) * this.scale - this.frame.clientHeight / 2;
    }

    private choose(number: number, focus: boolean): void {
        const box = this.layout.boxes[number];
        if (!box) return;
        this.nodes[this.chosen]?.setAttribute("tabindex", "-1");
        this.nodes[this.chosen]?.classList.remove("chosen");
        this.chosen = number;
        this.nodes[number]!.setAttribute("tabindex", "0");
        this.nodes[number]!.classList.add("chosen");
        const cluster = this.layout.clusters[box.cluster];
        this.details.replaceChildren(...this.hooks.describe(box.operator), ...(cluster ? this.hooks.describe(cluster.operator) : []));
        if (focus) this.nodes[number]!.focus({ preventScroll: false });
    }

    private listen(): void {
        const { frame } = this;
        let from: { x: number; y: number; left: number; top: number } | null = null, moved = false;
        frame.addEventListener("wheel", (event) => {
            if (!event.ctrlKey) return;
            event.preventDefault();
            this.zoom(this.scale * Math.exp(-event.deltaY / 300));
        }, { passive: false });
        // A finger scrolls as everywhere.
        frame.addEventListener("pointerdown", (event) => {
            moved = false;
            if (event.pointerType === "mouse" && event.button === 0) from = { x: event.clientX, y: event.clientY, left: frame.scrollLeft, top: frame.scrollTop };
        });
        frame.addEventListener("pointermove", (event) => {
            if (from === null) return;
            if (!moved && Math.hypot(event.clientX - from.x, event.clientY - from.y) < 4) return;
            if (!moved) frame.setPointerCapture(event.pointerId);
            moved = true;
            frame.scrollLeft = from.left - (event.clientX - from.x);
            frame.scrollTop = from.top - (event.clientY - from.y);
        });
        for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, () => from = null);
        frame.addEventListener("click", (event) => {
            const box = (event.target as Element).closest("[data-box]");
            if (box && !moved) this.choose(Number(box.getAttribute("data-box")), true);
        });
        frame.addEventListener("keydown", (event) => this.key(event));
    }

    /** Up to where rows come from, down to where they go, left and right within a row. */
    private key(event: KeyboardEvent): void {
        const { boxes } = this.layout, at = boxes[this.chosen];
        if (!at) return;
        const beside = (way: number): number => {
            const row = boxes.map((box, i) => ({ box, i })).filter(({ box }) => box.y === at.y && Math.sign(box.x - at.x) === way);
            return row.sort((a, b) => way * (a.box.x - b.box.x))[0]?.i ?? -1;
        };
        let next = -1;
        switch (event.key) {
        case "ArrowUp": next = at.inputs[0] ?? -1; break;
        case "ArrowDown": next = at.output; break;
        case "ArrowLeft": next = beside(-1); break;
        case "ArrowRight": next = beside(1); break;
        case "Enter": case " ": next = this.chosen; break;
        case "+": case "=": this.zoom(this.scale * STEP); break;
        case "-": this.zoom(this.scale / STEP); break;
        case "0": this.zoom(this.fitting()); break;
        default: return;
        }
        event.preventDefault();
        event.stopPropagation();
        if (next >= 0) this.choose(next, true);
    }
}
