package org.sparkflame;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Posts each recording to a collector, which acknowledges it when it is on its disk. One that comes again is known
 * there by application, executor and sequence. After an error, pauses grow.
 */
final class CollectorShipper implements Shipper {
    private static final Pattern SEQUENCE = Pattern.compile(".*\\.(\\d{1,18})\\.jfr");
    private static final long FIRST_PAUSE_SECONDS = 20;
    private static final long LONGEST_PAUSE_SECONDS = 300;
    private final CollectorServer server;
    private final String query;
    private long pauseSeconds;
    private long nextAttempt = System.nanoTime();

    /** @param query of CollectorQuery */
    CollectorShipper(CollectorServer server, String query) {
        this.server = server;
        this.query = query;
    }

    @Override
    public void open() throws IOException {
        server.check();
    }

    @Override
    public void ship(File recording) throws IOException {
        Matcher name = SEQUENCE.matcher(recording.getName());
        if (!name.matches()) {
            throw new Refused(recording.getName() + " has no number");
        }
        CollectorServer.Answer answer;
        try {
            answer = server.post("/v1/recordings?" + query + "&sequence=" + Long.parseLong(name.group(1)),
                    () -> new GzipInput(Files.newInputStream(recording.toPath())));
        } catch (IOException | RuntimeException e) {
            pause(0);
            throw e;
        }
        judge(answer);
    }

    private void judge(CollectorServer.Answer answer) throws IOException {
        String text = "status " + answer.status + (answer.text.isEmpty() ? "" : ": " + answer.text);
        switch (answer.status) {
            case 200:
            case 201:
                pauseSeconds = 0;
                return;
            case 400:
            case 409:
            case 413:
            case 415:
            case 422:
                pauseSeconds = 0;
                throw new Refused(text);
            default:
                pause(answer.retrySeconds);
                throw new IOException(text);
        }
    }

    private void pause(long wantedSeconds) {
        pauseSeconds = pauseSeconds == 0 ? FIRST_PAUSE_SECONDS : Math.min(2 * pauseSeconds, LONGEST_PAUSE_SECONDS);
        long seconds = Math.max(pauseSeconds, Math.min(wantedSeconds, LONGEST_PAUSE_SECONDS));
        nextAttempt = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Schedule.vary(TimeUnit.SECONDS.toMillis(seconds), 0.2));
    }

    @Override
    public boolean isDue() {
        return System.nanoTime() - nextAttempt >= 0;
    }

    @Override
    public void hurry() {
        nextAttempt = System.nanoTime();
    }

    @Override
    public void close() {
        // Connections close when they are idle.
    }

    @Override
    public String target() {
        return server.toString();
    }
}
