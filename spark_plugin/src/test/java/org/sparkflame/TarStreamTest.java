package org.sparkflame;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.Test;

public class TarStreamTest {
    private static String text(byte[] bytes, int at, int size) {
        return new String(Arrays.copyOfRange(bytes, at, at + size), StandardCharsets.UTF_8);
    }

    @Test
    public void headersAreThoseOfTar() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        TarStream tar = new TarStream(bytes);
        tar.add("a/1.jfr", "hello".getBytes(StandardCharsets.US_ASCII));
        tar.end();
        byte[] archive = bytes.toByteArray();
        assertEquals(4 * 512, archive.length);
        assertEquals("a/1.jfr\0", text(archive, 0, 8));
        assertEquals("00000000005\0", text(archive, 124, 12));
        assertEquals("0ustar\0" + "00", text(archive, 156, 1) + text(archive, 257, 8));
        assertEquals("hello\0", text(archive, 512, 6));
        int sum = 8 * ' ';
        for (int i = 0; i < 512; i++) {
            sum += i >= 148 && i < 156 ? 0 : archive[i] & 0xff;
        }
        assertEquals(sum, Integer.parseInt(text(archive, 148, 6), 8));
        assertArrayEquals(new byte[1024], Arrays.copyOfRange(archive, 1024, 2048));
    }

    /** The size of the record counts its own digits, also where they become one more. */
    @Test
    public void longNamesAndOthersHaveARecord() throws IOException {
        StringBuilder name = new StringBuilder("ä");
        for (int i = 0; i < 1200; i++) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new TarStream(bytes).add(name.toString(), new byte[0]);
            byte[] archive = bytes.toByteArray();
            int size = Integer.parseInt(text(archive, 124, 11), 8);
            assertEquals('x', archive[156]);
            assertEquals(size + " path=" + name + "\n", text(archive, 512, size));
            name.append('x');
        }
    }

    @Test
    public void aFileThatHasBecomeShorterIsAnError() throws IOException {
        TarStream tar = new TarStream(new ByteArrayOutputStream());
        tar.add("a", new ByteArrayInputStream(new byte[700]), 600);
        try {
            tar.add("b", new ByteArrayInputStream(new byte[5]), 6);
            fail("it is shorter");
        } catch (EOFException e) {
            assertTrue(e.getMessage(), e.getMessage().contains("b has become shorter"));
        }
    }
}
