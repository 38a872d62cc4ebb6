// Text to bytes, bytes to numbers: the lowest layer of the page's data part.

/** Decodes base64; white space is skipped. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
    const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> };
    if (native.fromBase64) return native.fromBase64(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
}

/** Undoes the writer's compression: "identity" or "deflate-raw". */
export async function decompress(bytes: Uint8Array<ArrayBuffer>, encoding: string): Promise<Uint8Array> {
    if (encoding === "identity") return bytes;
    if (encoding !== "deflate-raw") throw new Error(`unknown data encoding "${encoding}"`);
    if (typeof DecompressionStream === "undefined") {
        throw new Error("this browser is too old to decompress the data (it has no DecompressionStream)");
    }
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads varints and slices; every read is checked against the end. */
export class ByteReader {
    constructor(readonly bytes: Uint8Array, public at = 0, readonly end = bytes.length) {}

    byte(): number {
        if (this.at >= this.end) throw new Error("the data part ends too early");
        return this.bytes[this.at++]!;
    }

    /** Little-endian base-128, up to 2^53. */
    varint(): number {
        let value = 0;
        let scale = 1;
        for (let i = 0; i < 8; i++) {
            const byte = this.byte();
            value += (byte & 127) * scale;
            if (byte < 128) return value;
            scale *= 128;
        }
        throw new Error("a number in the data part is too large");
    }

    slice(length: number): Uint8Array {
        if (length > this.end - this.at) throw new Error("the data part ends too early");
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }

    /** A part that is preceded by its length. */
    part(): ByteReader {
        const length = this.varint();
        this.slice(length);
        return new ByteReader(this.bytes, this.at - length, this.at);
    }

    /** A count of things that take at least one byte each in the rest of this part. */
    count(): number {
        const count = this.varint();
        if (count > this.end - this.at) throw new Error("a count in the data part is too large");
        return count;
    }

    /** A column: its length in bytes, then `count` varints below 2^32. */
    column32(count: number): Uint32Array {
        const part = this.part();
        const out = new Uint32Array(count);
        const { bytes, end } = part;
        let at = part.at;
        for (let i = 0; i < count; i++) {
            let byte = bytes[at++]!;
            let value = byte & 127;
            for (let shift = 7; byte > 127 && shift < 35; shift += 7) {
                byte = bytes[at++]!;
                value |= (byte & 127) << shift;
            }
            out[i] = value;
        }
        if (at > end) throw new Error("a column of the data part is too short");
        return out;
    }

    /** The same with values up to 2^53. */
    column53(count: number): Float64Array {
        const part = this.part();
        const out = new Float64Array(count);
        for (let i = 0; i < count; i++) out[i] = part.varint();
        return out;
    }
}

/** 0, 1, 2, 3, 4 stand for 0, -1, 1, -2, 2. */
export function unzigzag(value: number): number {
    return (value >>> 1) ^ -(value & 1);
}
