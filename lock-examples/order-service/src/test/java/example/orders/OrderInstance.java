package example.orders;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process with the application. */
final class OrderInstance implements AutoCloseable {
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final Process process;
    private final int port;

    private OrderInstance(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    static OrderInstance start(Path log, String... properties) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OrderApplication.class.getName(),
                "--server.port=0"));
        for (String property : properties) {
            command.add("--" + property);
        }
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        while (process.isAlive() && System.nanoTime() < deadline) {
            Matcher started = PORT.matcher(Files.readString(log));
            if (started.find()) {
                return new OrderInstance(process, Integer.parseInt(started.group(1)));
            }
            process.waitFor(100, TimeUnit.MILLISECONDS);
        }
        process.destroyForcibly();
        throw new IOException("The application did not start: " + Files.readString(log));
    }

    CompletableFuture<HttpResponse<String>> order(String item, int quantity) {
        return HTTP.sendAsync(
                HttpRequest.newBuilder(uri("/orders/" + item + "?quantity=" + quantity))
                        .timeout(Duration.ofSeconds(90))
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    String get(String path) throws Exception {
        return HTTP.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    long pid() {
        return process.pid();
    }

    /** Ends the process with SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            kill();
        }
    }
}
