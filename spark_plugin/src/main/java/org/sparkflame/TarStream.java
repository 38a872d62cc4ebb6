package org.sparkflame;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Writes a tar archive (POSIX) of files whose sizes are known. The stream stays the caller's. */
final class TarStream {
    private static final int BLOCK = 512;
    private static final int NAME_BYTES = 100;
    private final OutputStream out;
    private final byte[] buffer = new byte[1 << 16];

    TarStream(OutputStream out) {
        this.out = out;
    }

    void add(String name, byte[] bytes) throws IOException {
        begin(name, bytes.length);
        out.write(bytes);
        fill(bytes.length);
    }

    /** Exactly that many bytes; it is an error if there are fewer. */
    void add(String name, InputStream bytes, long size) throws IOException {
        begin(name, size);
        for (long left = size; left > 0;) {
            int got = bytes.read(buffer, 0, (int) Math.min(buffer.length, left));
            if (got < 0) {
                throw new EOFException(name + " has become shorter while it was read");
            }
            out.write(buffer, 0, got);
            left -= got;
        }
        fill(size);
    }

    void end() throws IOException {
        out.write(new byte[2 * BLOCK]);
        out.flush();
    }

    private void begin(String name, long size) throws IOException {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        if (text.length > NAME_BYTES || text.length > name.length()) {
            byte[] record = record(text);
            header("name", 'x', record.length);
            out.write(record);
            fill(record.length);
        }
        header(text.length > NAME_BYTES || text.length > name.length() ? "long" : name, '0', size);
    }

    /** "SIZE path=NAME", whose size counts its own digits. */
    private static byte[] record(byte[] name) {
        int rest = name.length + " path=\n".length();
        int size = rest + Integer.toString(rest).length();
        size = rest + Integer.toString(size).length();
        byte[] head = (size + " path=").getBytes(StandardCharsets.US_ASCII);
        byte[] record = Arrays.copyOf(head, size);
        System.arraycopy(name, 0, record, head.length, name.length);
        record[size - 1] = '\n';
        return record;
    }

    private void header(String name, char type, long size) throws IOException {
        byte[] block = new byte[BLOCK];
        put(block, 0, name);
        put(block, 100, "0000600");
        put(block, 108, "0000000");
        put(block, 116, "0000000");
        put(block, 124, String.format(Locale.ROOT, "%011o", size));
        put(block, 136, "00000000000");
        put(block, 148, "        ");
        block[156] = (byte) type;
        put(block, 257, "ustar");
        put(block, 263, "00");
        int sum = 0;
        for (byte each : block) {
            sum += each & 0xff;
        }
        put(block, 148, String.format(Locale.ROOT, "%06o\0", sum));
        out.write(block);
    }

    private static void put(byte[] block, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, block, at, bytes.length);
    }

    private void fill(long size) throws IOException {
        out.write(new byte[(int) ((BLOCK - size % BLOCK) % BLOCK)]);
    }
}
