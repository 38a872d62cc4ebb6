package org.sparkflame;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class CollectorShipperTest {
    @Rule
    public final TemporaryFolder scratch = new TemporaryFolder();
    private HttpServer server;
    /** The next answers; then 201. */
    private final List<Integer> statuses = Collections.synchronizedList(new ArrayList<>());
    private final List<String> queries = Collections.synchronizedList(new ArrayList<>());
    private final List<byte[]> bodies = Collections.synchronizedList(new ArrayList<>());
    private final List<String> tokens = Collections.synchronizedList(new ArrayList<>());

    @Before
    public void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @After
    public void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        bodies.add(all(exchange.getRequestBody()));
        queries.add(exchange.getRequestURI().getRawPath() + "?" + exchange.getRequestURI().getRawQuery());
        tokens.add(exchange.getRequestHeaders().getFirst("Authorization"));
        int status = statuses.isEmpty() ? 201 : statuses.remove(0);
        byte[] text = "{\"error\":\"for a reason\"}\n".getBytes(StandardCharsets.US_ASCII);
        if (status == 503) {
            exchange.getResponseHeaders().add("Retry-After", "30");
        }
        exchange.sendResponseHeaders(status, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    private static byte[] all(InputStream bytes) throws IOException {
        java.io.ByteArrayOutputStream all = new java.io.ByteArrayOutputStream();
        byte[] part = new byte[1000];
        for (int got = bytes.read(part); got >= 0; got = bytes.read(part)) {
            all.write(part, 0, got);
        }
        return all.toByteArray();
    }

    private CollectorServer collector(File token) {
        return new CollectorServer("http://127.0.0.1:" + server.getAddress().getPort() + "/prefix", token, null);
    }

    private CollectorShipper shipper() {
        return new CollectorShipper(collector(null), "group=g&application=app&executor=1");
    }

    private File recording(String name, int size) throws IOException {
        byte[] contents = new byte[size];
        for (int i = 0; i < size; i++) {
            contents[i] = (byte) (i * i >>> 7);
        }
        contents[0] = 'F';
        contents[1] = 'L';
        contents[2] = 'R';
        contents[3] = 0;
        return Files.write(new File(scratch.getRoot(), name).toPath(), contents).toFile();
    }

    @Test
    public void aRecordingArrivesWithItsKeyAndTheSameBytesEachTime() throws Exception {
        File recording = recording("exec-1.000042.jfr", 300_000);
        CollectorShipper shipper = shipper();
        shipper.open();
        shipper.ship(recording);
        statuses.add(200);
        shipper.ship(recording);
        assertEquals("/prefix/v1/recordings?group=g&application=app&executor=1&sequence=42", queries.get(0));
        byte[] plain = all(new GZIPInputStream(new ByteArrayInputStream(bodies.get(0))));
        assertArrayEquals(Files.readAllBytes(recording.toPath()), plain);
        assertArrayEquals(bodies.get(0), bodies.get(1));
        assertTrue(bodies.get(0).length < 300_000);
        assertNull(tokens.get(0));
    }

    @Test
    public void theTokenIsReadEachTime() throws Exception {
        File token = new File(scratch.getRoot(), "token");
        CollectorShipper shipper = new CollectorShipper(collector(token), "group=g");
        assertThrows(IOException.class, shipper::open);
        Files.write(token.toPath(), "sft_1\n".getBytes(StandardCharsets.US_ASCII));
        shipper.open();
        shipper.ship(recording("exec-1.000001.jfr", 100));
        Files.write(token.toPath(), "sft_2".getBytes(StandardCharsets.US_ASCII));
        shipper.ship(recording("exec-1.000002.jfr", 100));
        assertEquals(Arrays.asList("Bearer sft_1", "Bearer sft_2"), tokens);
        Files.write(token.toPath(), "two words".getBytes(StandardCharsets.US_ASCII));
        assertThrows(IOException.class, () -> shipper.ship(recording("exec-1.000003.jfr", 100)));
    }

    @Test
    public void afterAnErrorThereIsAPause() throws Exception {
        File recording = recording("exec-1.000001.jfr", 100);
        for (int status : new int[] {503, 507, 401, 403, 429, 302, 404}) {
            CollectorShipper shipper = shipper();
            assertTrue(shipper.isDue());
            statuses.add(status);
            IOException error = assertThrows(IOException.class, () -> shipper.ship(recording));
            assertFalse(error instanceof Refused);
            assertEquals("status " + status + ": for a reason", error.getMessage());
            assertFalse(shipper.isDue());
            shipper.hurry();
            assertTrue(shipper.isDue());
            shipper.ship(recording);
        }
    }

    @Test
    public void nobodyListens() throws Exception {
        CollectorShipper shipper = shipper();
        server.stop(0);
        File recording = recording("exec-1.000001.jfr", 100);
        assertThrows(IOException.class, () -> shipper.ship(recording));
        assertFalse(shipper.isDue());
    }

    @Test
    public void whatIsNeverTakenIsDropped() throws Exception {
        LocalFolder folder = folder();
        record(folder);
        record(folder);
        folder.finish();
        statuses.add(413);
        ShippingTotals totals = new ShippingTotals();
        Shipping shipping = shipping(folder, totals, new Destination(shipper(), null));
        assertTrue(shipping.ship());
        assertEquals(2, queries.size());
        assertEquals(1, totals.dropped.get());
        assertEquals(1, totals.objects.get());
        assertNull(folder.oldest());
    }

    @Test
    public void aDestinationDoesNotWaitForAnother() throws Exception {
        LocalFolder folder = folder();
        File first = record(folder);
        record(folder);
        folder.finish();
        List<String> elsewhere = new ArrayList<>();
        Shipping shipping = shipping(folder, new ShippingTotals(), new Destination(shipper(), null), new Destination(list(elsewhere), null));
        statuses.add(503);
        assertFalse(shipping.ship());
        assertEquals(Arrays.asList("exec-1.000001.jfr", "exec-1.000002.jfr"), elsewhere);
        assertTrue("until both have it", first.isFile());
        assertFalse("the pause is not over", shipping.ship());
        assertEquals(1, queries.size());
        shipping.hurry();
        assertTrue(shipping.ship());
        assertEquals("nothing twice", 2, elsewhere.size());
        assertEquals(3, queries.size());
        assertNull(folder.oldest());
        assertFalse(first.exists());
    }

    @Test
    public void whatAnotherJvmLeftIsSentAsItsOwn() throws Exception {
        File base = new File(scratch.getRoot(), "local");
        LocalFolder killed = new LocalFolder(base, base, "g/app-1", "exec-7", 1_000_000, "");
        Files.copy(recording("left", 100).toPath(), killed.next().toPath());
        Files.write(new File(base, "g/app-1/.exec-7.lock").toPath(),
                "http://c\ngroup=g&application=app-1&executor=7".getBytes(StandardCharsets.UTF_8));
        LocalFolder folder = new LocalFolder(base, base, "app-2", "exec-1", 1_000_000, "http://c\ngroup=g&application=app-2&executor=1");
        folder.next();
        CollectorServer collector = collector(null);
        ShippingTotals totals = new ShippingTotals();
        shipping(folder, totals, new Destination(shipper(), (relative, query) -> new CollectorShipper(collector, query)))
                .shipLeftovers(() -> true);
        assertEquals(Collections.singletonList("/prefix/v1/recordings?group=g&application=app-1&executor=7&sequence=1"), queries);
        assertEquals(1, totals.objects.get());
        assertFalse(killed.next().exists());
    }

    @Test
    public void namesAndLabelsAreMadeSafe() {
        assertEquals("group=a_b&application=_..&executor=1&label=application_name%3DMy+job+%26+%C3%BC&label=user%3Dme",
                new CollectorQuery().addName("group", "a/b").addName("application", "...").addName("attempt", "").addName("executor", "1")
                        .addLabel("application_name", " My\njob & ü\u0007").addLabel("user", "me").addLabel("none", " ").toString());
    }

    private LocalFolder folder() throws IOException {
        File base = new File(scratch.getRoot(), "local");
        return new LocalFolder(base, base, "app", "exec-1", 1_000_000, "http://c");
    }

    private File record(LocalFolder folder) throws IOException {
        File file = folder.next();
        folder.advance();
        Files.copy(recording("next", 100).toPath(), file.toPath());
        return file;
    }

    private static Shipping shipping(LocalFolder folder, ShippingTotals totals, Destination... destinations) {
        return new Shipping(folder, Arrays.asList(destinations), totals, new HadoopUser());
    }

    private static Shipper list(List<String> names) {
        return new Shipper() {
            @Override
            public void open() {
                // nothing to open
            }

            @Override
            public void ship(File recording) {
                names.add(recording.getName());
            }

            @Override
            public void close() {
                // nothing to close
            }

            @Override
            public String target() {
                return "a list";
            }
        };
    }
}
