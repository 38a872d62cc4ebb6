package org.sparkflame;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** Runs the command `sparkflame` once, fed through pipes. */
final class NativeMerge {
    private static final String SKIPPED = "sparkflame merge: skipped: ";
    private static final int KEPT_LINES = 20;
    private final List<String> command;
    /** Files that the command could not read, with the reason. */
    final List<String> skipped = new ArrayList<>();
    private final Deque<String> messages = new ArrayDeque<>();
    private Exception trouble;

    /** Writes its standard input. */
    interface Source {
        void write(OutputStream out) throws IOException;
    }

    /** Takes its standard output. */
    interface Target {
        void read(InputStream in) throws IOException;
    }

    NativeMerge(List<String> command) {
        this.command = command;
    }

    /** Returns when the command has ended well. */
    void run(Source source, Target target) throws IOException {
        Process process = new ProcessBuilder(command).start();
        Thread feeder = start("feeder", () -> feed(source, process));
        Thread listener = start("listener", () -> listen(process));
        int status;
        try {
            target.read(process.getInputStream());
            feeder.join();
            listener.join();
            status = process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
        if (status != 0) {
            throw new IOException(command.get(0) + " ended with status " + status + ": " + String.join("\n", messages), trouble);
        }
        if (trouble != null) {
            throw new IOException(trouble);
        }
    }

    private static Thread start(String name, Runnable work) {
        Thread thread = new Thread(work, "sparkflame " + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void feed(Source source, Process process) {
        try (OutputStream out = new BufferedOutputStream(process.getOutputStream(), 1 << 16)) {
            source.write(out);
        } catch (IOException | RuntimeException e) {
            trouble = e; // the command then finds its input cut short, and fails
        }
    }

    private void listen(Process process) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(SKIPPED)) {
                    skipped.add(line.substring(SKIPPED.length()));
                } else {
                    messages.add(line);
                    if (messages.size() > KEPT_LINES) {
                        messages.remove();
                    }
                }
            }
        } catch (IOException e) {
            messages.add(e.toString());
        }
    }
}
