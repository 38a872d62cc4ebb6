// Which frames count as one method, and what it is called on screen.
import type { Profile } from "./profile.js";

const LINE_LIMIT = 2 ** 20;
const BY_NUMBER = new Intl.Collator("en", { numeric: true });

export interface NameOptions {
    /** Shortened names where the writer gave one. */
    readable: boolean;
    /** One box per line instead of one per method. */
    lines: boolean;
}

/** Methods ("keys") of a profile under one choice of NameOptions, plus the groups that a label makes. */
export class Names {
    /** Key of each frame. */
    readonly ofFrame: Uint32Array;
    /** A frame of each key. */
    readonly frame: number[] = [];
    private readonly texts: string[] = [];
    private readonly raws: string[] = [];
    /** What tells a method apart whatever names are shown, so that addresses survive a change of names. */
    private readonly identities: string[] = [];
    /** Place in the order by name: strings are numbered in it, lines follow. */
    private readonly places: number[] = [];
    private readonly groups = new Map<string, number>();
    private lastMatch: { source: string; matched: Uint8Array } | null = null;
    readonly methodCount: number;

    constructor(readonly profile: Profile, readonly options: NameOptions) {
        const { frames, strings } = profile;
        this.ofFrame = new Uint32Array(frames.count);
        const seen = new Map<string | number, number>();
        for (let i = 0; i < frames.count; i++) {
            const shown = options.readable && frames.display[i]! > 0 ? frames.display[i]! - 1 : frames.name[i]!;
            const line = options.lines ? frames.line[i]! : 0;
            const identity = line > 0 ? `${shown}:${line}` : shown;
            let key = seen.get(identity);
            if (key === undefined) {
                key = this.texts.length;
                seen.set(identity, key);
                this.texts.push(line > 0 ? `${strings.text(shown)}:${line}` : strings.text(shown));
                this.raws.push(strings.text(frames.name[i]!));
                this.identities.push(line > 0 ? `${this.raws[key]}:${line}` : this.raws[key]!);
                this.places.push(shown * LINE_LIMIT + Math.min(line, LINE_LIMIT - 1));
                this.frame.push(i);
            }
            this.ofFrame[i] = key;
        }
        this.methodCount = this.texts.length;
    }

    /** Every frame is a method of its own. */
    get isPlain(): boolean {
        return this.methodCount === this.profile.frames.count;
    }

    get count(): number {
        return this.texts.length;
    }

    text(key: number): string {
        return this.texts[key]!;
    }

    /** The name as recorded, of one of the key's frames. */
    raw(key: number): string {
        return this.raws[key]!;
    }

    identity(key: number): string {
        return this.identities[key]!;
    }

    isGroup(key: number): boolean {
        return key >= this.methodCount;
    }

    /** A key that stands for a label's value. */
    group(text: string): number {
        let key = this.groups.get(text);
        if (key === undefined) {
            key = this.texts.length;
            this.groups.set(text, key);
            this.texts.push(text);
            this.raws.push(text);
            this.identities.push(text);
            this.frame.push(-1);
        }
        return key;
    }

    find(text: string): number {
        const key = this.texts.indexOf(text);
        return key >= 0 ? key : this.raws.indexOf(text);
    }

    /** Position of each key when sorted by name: groups (numbers in them by size), then methods. */
    ranks(): Uint32Array {
        const { places } = this;
        const groups = [...this.groups.values()].sort((a, b) => BY_NUMBER.compare(this.texts[a]!, this.texts[b]!));
        const methods = new Uint32Array(this.methodCount);
        for (let key = 0; key < methods.length; key++) methods[key] = key;
        methods.sort((a, b) => places[a]! - places[b]!);
        const ranks = new Uint32Array(this.count);
        groups.forEach((key, i) => (ranks[key] = i));
        methods.forEach((key, i) => (ranks[key] = groups.length + i));
        return ranks;
    }

    /** Per key: does its text, or its raw name, match? */
    matching(pattern: RegExp): Uint8Array {
        const source = `${pattern.flags}/${pattern.source}`;
        if (this.lastMatch?.source === source && this.lastMatch.matched.length === this.count) return this.lastMatch.matched;
        const matched = new Uint8Array(this.count);
        for (let i = 0; i < matched.length; i++) {
            if (pattern.test(this.texts[i]!) || (this.raws[i] !== this.texts[i] && pattern.test(this.raws[i]!))) matched[i] = 1;
        }
        this.lastMatch = { source, matched };
        return matched;
    }

    /** The same per frame. */
    matchingFrames(pattern: RegExp): Uint8Array {
        const keys = this.matching(pattern);
        return Uint8Array.from(this.ofFrame, (key) => keys[key]!);
    }
}

/** A regular expression from what somebody typed; text that is none is searched literally. */
export function toPattern(text: string, ignoreCase: boolean): RegExp | null {
    if (text === "") return null;
    const flags = ignoreCase ? "iu" : "u";
    for (const source of [text, text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")]) {
        try {
            return new RegExp(source, flags);
        } catch {
            // Try the next reading of it.
        }
    }
    return null;
}
