// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.consumers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.redis.RedisTestServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the order service, an application with Spring Boot, builds as a user builds it, with Spring Boot's choice of
 * libraries and ahead-of-time processing. It passes its own tests: two instances, of which one is killed.
 */
@Tag("once")
@Tag("long")
@Timeout(540)
class SpringBootProjectTest {
    private static final Path ROOT = Path.of(System.getProperty("mortise.root"));
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    @TempDir
    private static Path directory;

    private static Path project;

    @BeforeAll
    @Timeout(540)
    static void build() throws Exception {
        ConsumerBuild build = ConsumerBuild.stage(directory);
        project = ConsumerBuild.copy(ROOT.resolve("lock-examples/order-service"), directory.resolve("order-service"));
        assertThat(project.resolve("pom.xml"))
                .content()
                .as("the version of this build")
                .contains("<mortise.version>" + ConsumerBuild.VERSION + "</mortise.version>");
        build.runMaven(project, "verify");
    }

    @Test
    void theOrderServicePassesItsTests() throws Exception {
        assertThat(ConsumerBuild.testsRun(project, "example.orders.OrderServiceTest"))
                .isEqualTo(2);
    }

    @Test
    void theOrderServiceLocksWhenItWasProcessedAheadOfTime() throws Exception {
        Path stock = Files.writeString(
                directory.resolve("stock.sql"), "INSERT INTO stock (item, amount, token) VALUES ('book', 5, 0);");
        Path log = directory.resolve("aot.log");
        try (RedisTestServer redis = RedisTestServer.start()) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Dspring.aot.enabled=true",
                            "-jar",
                            project.resolve("target/order-service-1.0-SNAPSHOT.jar")
                                    .toString(),
                            "--server.port=0",
                            "--spring.data.redis.host=127.0.0.1",
                            "--spring.data.redis.port=" + redis.port(),
                            "--spring.sql.init.data-locations=" + stock.toUri())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                String url = "http://127.0.0.1:" + port(process, log);
                assertThat(log).content().contains("Starting AOT-processed OrderApplication");
                long token = Long.parseLong(request("POST", url + "/orders/book?quantity=2"));
                assertThat(Long.parseLong(request("POST", url + "/orders/book?quantity=2")))
                        .isGreaterThan(token);
                assertThat(request("GET", url + "/actuator/health")).contains("responseMillis");
                assertThat(request("GET", url + "/actuator/locks?name=stock/book"))
                        .contains("\"name\":\"stock/book\"");
            } finally {
                process.destroy();
                if (!process.waitFor(30, TimeUnit.SECONDS)) {
                    process.destroyForcibly().waitFor();
                }
            }
        }
    }

    private static int port(Process process, Path log) throws Exception {
        long start = System.nanoTime();
        while (process.isAlive() && System.nanoTime() - start < TimeUnit.MINUTES.toNanos(2)) {
            Matcher started = PORT.matcher(Files.readString(log));
            if (started.find()) {
                return Integer.parseInt(started.group(1));
            }
            process.waitFor(100, TimeUnit.MILLISECONDS);
        }
        throw new AssertionError("the application did not start: " + Files.readString(log));
    }

    private static String request(String method, String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .timeout(Duration.ofSeconds(60))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }
}
