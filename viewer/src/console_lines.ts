// Curves over time as SVG: no styles in it, so that the page's strict policy holds.
const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000, HEIGHT = 160;

export interface Curve {
    name: string;
    /** Of the style. */
    kind: string;
    points: [number, number][];
    filled?: boolean;
}

function shape(tag: string, attributes: Record<string, string | number>, ...children: Node[]): SVGElement {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    made.append(...children);
    return made;
}

/** Pieces of a curve: where nothing was measured for over two steps it is interrupted. */
export function pieces(points: [number, number][], stepMs: number): [number, number][][] {
    const found: [number, number][][] = [];
    let last = -Infinity;
    for (const point of points) {
        if (point[0] - last > 2.5 * stepMs) found.push([]);
        found[found.length - 1]!.push(point);
        last = point[0];
    }
    return found;
}

/** The largest value of the axis: 1, 2 or 5 times a power of ten, or of two for bytes. */
export function axisEnd(value: number, unit: string): number {
    if (!(value > 0)) return 1;
    if (unit === "bytes") return 2 ** Math.ceil(Math.log2(value * 4)) / 4;
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((factor) => factor * power).find((end) => end >= value)!;
}

/** One point alone is drawn as a short line, inside the picture. */
function path(points: [number, number][]): string {
    const [first] = points;
    const all: [number, number][] = points.length === 1 ? [[first![0] > 4 ? first![0] - 4 : 0, first![1]], [first![0] > 4 ? first![0] : 4, first![1]]] : points;
    return `M${all.map((point) => `${point[0].toFixed(1)} ${point[1].toFixed(1)}`).join("L")}`;
}

export function lines(id: string, label: string, curves: Curve[], stepMs: number, unit: string, small = false): SVGElement {
    const height = small ? 24 : HEIGHT, width = small ? 120 : WIDTH;
    const times = curves.flatMap((curve) => curve.points.map((point) => point[0]));
    const from = times.reduce((least, time) => Math.min(least, time), Infinity), to = times.reduce((most, time) => Math.max(most, time), -Infinity);
    const end = axisEnd(curves.reduce((most, curve) => curve.points.reduce((sum, point) => Math.max(sum, point[1]), most), 0), unit);
    const place = ([time, value]: [number, number]): [number, number] =>
        [to > from ? ((time - from) / (to - from)) * width : width / 2, height - 2 - (value / end) * (height - 4)];
    const parts: SVGElement[] = small ? [] : [0.25, 0.5, 0.75].map((share) =>
        shape("line", { class: "grid", x1: 0, x2: width, y1: height * share, y2: height * share }));
    for (const curve of curves) {
        for (const piece of pieces(curve.points, stepMs)) {
            const placed = piece.map(place);
            if (curve.filled && placed.length > 1) {
                const first = placed[0]!, last = placed[placed.length - 1]!;
                parts.push(shape("path", { class: `area ${curve.kind}`, d: `${path(placed)}L${last[0]} ${height}L${first[0]} ${height}Z` }));
            }
            parts.push(shape("path", { class: `line ${curve.kind}`, d: path(placed) }));
        }
    }
    const title = shape("title", {});
    title.textContent = label;
    return shape("svg", { ...(id === "" ? {} : { id }), class: small ? "lines small" : "lines", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none",
                          role: "img", "aria-label": label }, title, ...parts);
}
