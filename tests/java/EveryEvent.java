import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Repeats for some seconds actions that trigger each JDK event with a stack. */
public class EveryEvent {
    private static final Object LOCK = new Object();
    private static final List<byte[]> KEPT = new ArrayList<>();
    private static volatile long sink;

    private static void compute() {
        long sum = 0;
        for (int i = 0; i < 3_000_000; i++) {
            sum += i * 31L ^ sum >>> 3;
        }
        sink += sum;
    }

    private static void allocate() {
        for (int i = 0; i < 2000; i++) {
            KEPT.add(new byte[1000 + i]);
        }
        KEPT.add(new byte[3_000_000]);
        if (KEPT.size() > 20_000) {
            KEPT.clear();
        }
    }

    private static void hold() throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(2);
        }
    }

    private static void readAndWrite(Path path) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.write(new byte[100_000]);
            file.getChannel().force(true);
            file.seek(0);
            file.readFully(new byte[100_000]);
        }
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            client.getOutputStream().write(new byte[1000]);
            accepted.getInputStream().readNBytes(1000);
        }
    }

    private static void fail() {
        try {
            throw new IllegalStateException("expected");
        } catch (IllegalStateException expected) {
            sink++;
        }
        try {
            throw new AssertionError("expected");
        } catch (AssertionError expected) {
            sink++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long end = System.nanoTime() + Long.parseLong(arguments[0]) * 1_000_000_000L;
        Path path = Files.createTempFile("every", ".event");
        Thread rival = new Thread(() -> {
            try {
                while (System.nanoTime() < end) {
                    hold();
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }, "rival");
        rival.start();
        while (System.nanoTime() < end) {
            compute();
            allocate();
            hold();
            LockSupport.parkNanos(LOCK, 1_000_000);
            synchronized (KEPT) {
                KEPT.wait(1);
            }
            readAndWrite(path);
            fail();
        }
        rival.join();
        Files.delete(path);
    }
}
