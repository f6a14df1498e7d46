// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.LockOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests health, metrics and the endpoint of a running application over HTTP. */
@Timeout(300) // compilers and servers, perhaps on a busy machine
class ActuatorTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    /** A running application, with the store in memory unless the properties say otherwise. */
    private record Running(ConfigurableApplicationContext context) implements AutoCloseable {
        static Running start(String url, String... properties) {
            List<String> all = new ArrayList<>(List.of(
                    "server.port=0",
                    "mortise.url=" + url,
                    "management.endpoints.web.exposure.include=*",
                    "management.endpoint.health.show-details=always",
                    "management.health.redis.enabled=false"));
            all.addAll(List.of(properties));
            return new Running(new SpringApplicationBuilder(Application.class)
                    .web(WebApplicationType.SERVLET)
                    .properties(all.toArray(String[]::new))
                    .run());
        }

        LockClient locks() {
            return context.getBean(LockClient.class);
        }

        HttpResponse<String> request(String method, String path) throws IOException, InterruptedException {
            String port = context.getEnvironment().getProperty("local.server.port");
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/" + path))
                                    .method(method, HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            HttpResponse.BodyHandlers.ofString());
        }

        JsonNode get(String path) throws IOException, InterruptedException {
            HttpResponse<String> response = request("GET", path);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            return JSON.readTree(response.body());
        }

        @Override
        public void close() {
            context.close();
        }
    }

    @Test
    void S18_theEndpointShowsHoldersAndPages() throws Exception {
        try (Running application = Running.start("memory:boot-endpoint");
                Lease lease = application
                        .locks()
                        .named("order/1", LockOptions.defaults().metadata(Map.of("job", "nightly")))
                        .tryAcquire()
                        .orElseThrow();
                Lease other = application.locks().named("order/2").tryAcquire().orElseThrow();
                Lease unrelated =
                        application.locks().named("stock").tryAcquire().orElseThrow()) {
            JsonNode lock = application.get("locks?name=order/1").get("locks").get(0);
            assertThat(lock.get("name").asString()).isEqualTo("order/1");
            assertThat(lock.get("waiters").isEmpty()).isTrue();
            JsonNode holder = lock.get("holders").get(0);
            assertThat(holder.get("owner").asString()).isEqualTo(lease.ownerId());
            assertThat(holder.get("token").asLong()).isEqualTo(lease.fencingToken());
            assertThat(holder.get("pid").asLong())
                    .isEqualTo(ProcessHandle.current().pid());
            assertThat(holder.get("metadata").get("job").asString()).isEqualTo("nightly");

            JsonNode page = application.get("locks?prefix=order/&limit=1");
            assertThat(page.get("locks").size()).isEqualTo(1);
            JsonNode rest = application.get(
                    "locks?prefix=order/&limit=1&cursor=" + page.get("next").asString());
            assertThat(rest.get("locks").get(0).get("name").asString()).isEqualTo("order/2");
            assertThat(application.get("locks").get("locks").size()).isEqualTo(3);
            assertThat(List.of(other.isHeld(), unrelated.isHeld())).containsOnly(true);
        }
    }

    @Test
    void S14_badParametersAreRefused() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                Running application = Running.start(server.url(), "management.endpoint.locks.access=unrestricted")) {
            assertThat(refusal(application, "GET", "limit=0"))
                    .contains("limit is 0")
                    .contains("10000");
            assertThat(refusal(application, "GET", "limit=10001")).contains("10001");
            assertThat(refusal(application, "GET", "limit=x")).contains("400");
            assertThat(refusal(application, "GET", "name=")).contains("512 bytes");
            assertThat(refusal(application, "GET", "name=a&prefix=b")).contains("combined");
            assertThat(refusal(application, "GET", "cursor=forged"))
                    .contains("forged")
                    .contains("cursor of an earlier page");
            assertThat(refusal(application, "GET", "prefix=" + "p".repeat(513)))
                    .contains("pppp")
                    .contains("513 bytes")
                    .contains("at most 512");
            assertThat(refusal(application, "DELETE", "name=&token=1")).contains("512 bytes");
        }
    }

    private static String refusal(Running application, String method, String query) throws Exception {
        HttpResponse<String> response = application.request(method, "locks?" + query);
        assertThat(response.statusCode()).as(query).isEqualTo(400);
        return response.body();
    }

    @Test
    void aForcedReleaseIsNotPossibleByDefault() throws Exception {
        try (Running application = Running.start("memory:boot-read-only");
                Lease lease = application.locks().named("a").tryAcquire().orElseThrow()) {
            String path = "locks?name=a&token=" + lease.fencingToken();
            assertThat(application.request("DELETE", path).statusCode()).isEqualTo(405);
            assertThat(lease.isHeld()).isTrue();
        }
    }

    @Test
    void S07_aForcedReleaseNeedsTheToken() throws Exception {
        try (Running application =
                        Running.start("memory:boot-release", "management.endpoint.locks.access=unrestricted");
                Lease lease = application.locks().named("a").tryAcquire().orElseThrow()) {
            String path = "locks?name=a";
            assertThat(application.request("DELETE", path).statusCode()).isEqualTo(400);
            String stale = path + "&token=" + (lease.fencingToken() - 1);
            assertThat(application.request("DELETE", stale).body()).isEqualTo("{\"released\":false}");
            assertThat(lease.isHeld()).isTrue();
            String current = path + "&token=" + lease.fencingToken();
            assertThat(application.request("DELETE", current).body()).isEqualTo("{\"released\":true}");
            lease.lost().get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void locksAreMetersOfTheApplication() throws Exception {
        try (Running application = Running.start("memory:boot-metrics")) {
            application.locks().named("a").run(lease -> {});
            JsonNode meter = application.get("metrics/mortise.lock.acquire?tag=outcome:granted");
            assertThat(meter.get("measurements").get(0).get("value").asInt()).isEqualTo(1);
            assertThat(application.context().getBeansOfType(LockListener.class))
                    .containsOnlyKeys("mortiseLockMetrics", "mortiseLockWaitTracing");
        }
    }

    @Test
    void S15_theHealthFollowsTheStore() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                Running application = Running.start(server.url(), "mortise.request-timeout=4s")) {
            JsonNode up = application.get("health").get("components").get("mortise");
            assertThat(up.get("status").asString()).isEqualTo("UP");
            assertThat(up.get("details").get("responseMillis").isNumber()).isTrue();
            server.stop();
            HttpResponse<String> response = application.request("GET", "health");
            assertThat(response.statusCode()).isEqualTo(503);
            JsonNode down = JSON.readTree(response.body()).get("components").get("mortise");
            assertThat(down.get("status").asString()).isEqualTo("DOWN");
            assertThat(down.get("details").get("endpoints").asString()).contains("127.0.0.1:" + server.port());
        }
    }

    @Test
    void theHealthContributorCanBeTurnedOff() throws Exception {
        try (Running application = Running.start("memory:boot-healthless", "management.health.mortise.enabled=false")) {
            assertThat(application.get("health").get("components").has("mortise"))
                    .isFalse();
        }
    }
}
