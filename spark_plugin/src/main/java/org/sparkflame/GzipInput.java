package org.sparkflame;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.Deflater;
import java.util.zip.DeflaterInputStream;

/**
 * Compresses what is read from it with gzip, in little memory. The same bytes become the same, in any release of Java,
 * so that a recording that is sent again is recognized.
 */
final class GzipInput extends InputStream {
    private static final byte[] HEAD = {0x1f, (byte) 0x8b, Deflater.DEFLATED, 0, 0, 0, 0, 0, 0, (byte) 0xff};
    private final CheckedInputStream plain;
    private final Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    private final InputStream packed;
    private InputStream part = new ByteArrayInputStream(HEAD);
    private boolean hasEnd;

    /** Owns the stream. */
    GzipInput(InputStream bytes) {
        plain = new CheckedInputStream(bytes, new CRC32());
        packed = new DeflaterInputStream(plain, deflater, 1 << 14);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
        int got = part.read(to, offset, length);
        while (got < 0 && !hasEnd) {
            hasEnd = part == packed;
            part = hasEnd ? new ByteArrayInputStream(end()) : packed;
            got = part.read(to, offset, length);
        }
        return got;
    }

    private byte[] end() {
        long crc = plain.getChecksum().getValue();
        long size = deflater.getBytesRead();
        byte[] end = new byte[8];
        for (int i = 0; i < 4; i++) {
            end[i] = (byte) (crc >>> (8 * i));
            end[4 + i] = (byte) (size >>> (8 * i));
        }
        return end;
    }

    @Override
    public void close() throws IOException {
        try {
            packed.close();
        } finally {
            deflater.end();
            plain.close();
        }
    }
}
