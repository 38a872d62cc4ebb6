package org.sparkflame;

/** Checks that bytes are whole JFR chunks, one after the other: only then they may be followed by others. */
final class JfrChunks {
    private static final int HEAD_BYTES = 16;
    private static final int MIN_BYTES = 68;
    private static final int MAGIC = 0x464c5200; // "FLR\0"
    private final byte[] head = new byte[HEAD_BYTES];
    private int headBytes;
    private long left;
    private int chunks;
    private boolean broken;

    void add(byte[] bytes, int size) {
        int at = 0;
        while (at < size && !broken) {
            if (left > 0) {
                long part = Math.min(left, size - at);
                left -= part;
                at += part;
            } else {
                head[headBytes++] = bytes[at++];
                if (headBytes == HEAD_BYTES) {
                    begin();
                }
            }
        }
    }

    private void begin() {
        long size = number(8, 8);
        broken = number(0, 4) != MAGIC || size < MIN_BYTES;
        left = size - HEAD_BYTES;
        headBytes = 0;
        chunks++;
    }

    private long number(int from, int count) {
        long number = 0;
        for (int i = from; i < from + count; i++) {
            number = number << 8 | head[i] & 0xff;
        }
        return number;
    }

    /** Whether what was added ends with a chunk. */
    boolean isWhole() {
        return !broken && chunks > 0 && left == 0 && headBytes == 0;
    }
}
