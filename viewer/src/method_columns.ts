// Columns of the table of methods, for one profile and for a comparison.
import type { Engine } from "./engine.js";
import type { State } from "./state.js";
import type { Column } from "./table_view.js";
import { formatShare, formatSigned, formatValue } from "./numbers.js";

export function methodColumns(engine: Engine, state: State): Column[] {
    const names = engine.names(state);
    const name: Column = { id: "name", title: "Method", hint: "Sort by name", numeric: false,
                           text: (key) => names.text(key), order: (key) => names.text(key) };
    return engine.sideCount === 1 ? [...plain(engine, state), name] : [...comparison(engine, state), name];
}

function plain(engine: Engine, state: State): Column[] {
    const sums = engine.sums(state);
    const { unit } = engine.type(state);
    const whole = engine.selection(state).totals[0]!;
    const value = (id: string, title: string, hint: string, column: Float64Array): Column => ({
        id, title, hint, numeric: true, text: (key) => `${formatValue(column[key]!, unit)} · ${formatShare(column[key]!, whole)}`,
        order: (key) => column[key]!, bar: (key) => column[key]! / (whole || 1),
    });
    return [value("self", "Self", "In the method itself, without callees", sums.self[0]!),
            value("total", "Total", "In the method and what it calls; recursion counts once", sums.total[0]!)];
}

function comparison(engine: Engine, state: State): Column[] {
    const sums = engine.sums(state);
    const { unit } = engine.type(state);
    const sides = engine.profile.meta.sides!;
    const wholes = engine.selection(state).totals;
    const factors = engine.factors(state);
    const change = (columns: Float64Array[], key: number): number => columns[1]![key]! * factors[1]! - columns[0]![key]! * factors[0]!;
    const scale = wholes[1]! * factors[1]! || 1;
    const changes = (id: string, title: string, columns: Float64Array[]): Column => {
        let most = 1e-12;
        for (const key of sums.keys) most = Math.max(most, Math.abs(change(columns, key)));
        return {
            id, title, hint: `${sides[1]} minus ${sides[0]}; sorted by magnitude`, numeric: true,
            text: (key) => {
                const delta = change(columns, key);
                return formatSigned(state.normalize ? formatShare(delta, scale) : formatValue(delta, unit), delta);
            },
            order: (key) => Math.abs(change(columns, key)), bar: (key) => change(columns, key) / most,
        };
    };
    const side = (id: string, what: string, columns: Float64Array[], at: number): Column => ({
        id, title: `${what}, ${sides[at]}`, hint: `${what} time in ${sides[at]}`, numeric: true,
        text: (key) => `${formatValue(columns[at]![key]!, unit)} · ${formatShare(columns[at]![key]!, wholes[at]!)}`, order: (key) => columns[at]![key]!,
    });
    return [changes("self-change", "Self change", sums.self), changes("total-change", "Total change", sums.total),
            side("self-before", "Self", sums.self, 0), side("self-after", "Self", sums.self, 1),
            side("total-before", "Total", sums.total, 0), side("total-after", "Total", sums.total, 1)];
}
