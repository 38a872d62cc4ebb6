package org.sparkflame;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A `sparkflame serve`, to which recordings are posted: its address, token and certificates. Files are read when they
 * are needed, so that they may be replaced while the job runs. One thread at a time.
 */
final class CollectorServer {
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);
    /** Of a whole request; the collector's own limit is half of it. */
    private static final long REQUEST_SECONDS = 60;
    private static final int ANSWER_LIMIT = 2000;
    private static final int TOKEN_LIMIT = 1000;
    private static final Pattern ERROR = Pattern.compile("\\{\"error\":\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Executor THREADS = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "sparkflame-collector");
        thread.setDaemon(true);
        return thread;
    });
    private final String address;
    private final File tokenFile;
    private final File certificates;
    private HttpClient client;

    /** What was answered. */
    static final class Answer {
        final int status;
        /** The reason, if it is one of an error. */
        final String text;
        /** When another attempt may succeed; 0: not known. */
        final long retrySeconds;

        private Answer(int status, String text, long retrySeconds) {
            this.status = status;
            this.text = text;
            this.retrySeconds = retrySeconds;
        }
    }

    /** Bytes that can be read again for another attempt. */
    interface Body {
        InputStream open() throws IOException;
    }

    CollectorServer(Settings settings) {
        this(settings.collector, file(settings.collectorTokenFile), file(settings.collectorCaFile));
    }

    /**
     * @param tokenFile null: the token is in the environment, or there is none
     * @param certificates null: those of Java
     */
    CollectorServer(String address, File tokenFile, File certificates) {
        this.address = address;
        this.tokenFile = tokenFile;
        this.certificates = certificates;
    }

    private static File file(String path) {
        return path == null ? null : new File(path);
    }

    @Override
    public String toString() {
        return address;
    }

    /** Reads the files, so that what is wrong with them is known early. */
    void check() throws IOException {
        token();
        client();
    }

    /** Posts to a path with a query, in at most a minute. */
    Answer post(String path, Body body) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address + path)).timeout(Duration.ofSeconds(REQUEST_SECONDS))
                .header("Content-Type", "application/octet-stream").POST(HttpRequest.BodyPublishers.ofInputStream(() -> open(body)));
        String token = token();
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        try {
            return send(request.build());
        } catch (IOException e) {
            client = null; // it may need other certificates
            throw e;
        }
    }

    /** Null ends the request with an error. */
    private static InputStream open(Body body) {
        try {
            return body.open();
        } catch (IOException e) {
            return null;
        }
    }

    private Answer send(HttpRequest request) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        CompletableFuture<HttpResponse<Void>> answer = client().sendAsync(request,
                HttpResponse.BodyHandlers.ofByteArrayConsumer(bytes -> bytes.ifPresent(part -> {
                    text.write(part, 0, Math.max(0, Math.min(part.length, ANSWER_LIMIT - text.size())));
                })));
        try {
            HttpResponse<Void> response = answer.get(REQUEST_SECONDS + CONNECT_LIMIT.getSeconds(), TimeUnit.SECONDS);
            return new Answer(response.statusCode(), reason(new String(text.toByteArray(), StandardCharsets.UTF_8)),
                    retrySeconds(response.headers().firstValue("Retry-After").orElse("")));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException ? (IOException) e.getCause() : new IOException(e.getCause());
        } catch (TimeoutException e) {
            answer.cancel(true);
            throw new IOException("no answer within " + REQUEST_SECONDS + " s", e);
        } catch (InterruptedException e) {
            answer.cancel(true);
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private static String reason(String text) {
        Matcher error = ERROR.matcher(text);
        String found = error.find() ? error.group(1) : text;
        return found.substring(0, Math.min(found.length(), 200)).replaceAll("\\p{Cntrl}", " ").trim();
    }

    private static long retrySeconds(String value) {
        return value.matches("\\d{1,6}") ? Long.parseLong(value) : 0;
    }

    private String token() throws IOException {
        String text = tokenFile == null ? System.getenv("SPARKFLAME_TOKEN") : read(tokenFile);
        String token = text == null ? "" : text.trim();
        if (token.isEmpty() && tokenFile == null) {
            return null;
        }
        if (!token.matches("[!-~]{1," + TOKEN_LIMIT + "}")) {
            throw new IOException("the token" + (tokenFile == null ? " in SPARKFLAME_TOKEN" : " in " + tokenFile) + " is not one word");
        }
        return token;
    }

    private static String read(File file) throws IOException {
        byte[] text = new byte[TOKEN_LIMIT + 100];
        try (InputStream bytes = Files.newInputStream(file.toPath())) {
            int size = bytes.readNBytes(text, 0, text.length);
            return new String(text, 0, size, StandardCharsets.US_ASCII);
        }
    }

    private HttpClient client() throws IOException {
        if (client == null) {
            HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
                    .followRedirects(HttpClient.Redirect.NEVER).connectTimeout(CONNECT_LIMIT).executor(THREADS);
            client = (certificates == null ? builder : builder.sslContext(trust(certificates))).build();
        }
        return client;
    }

    /** Those certificates and no others are trusted. */
    private static SSLContext trust(File file) throws IOException {
        try (InputStream bytes = Files.newInputStream(file.toPath())) {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(bytes)) {
                store.setCertificateEntry("certificate" + store.size(), certificate);
            }
            if (store.size() == 0) {
                throw new IOException(file + " has no certificates");
            }
            TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            managers.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, managers.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }
}
