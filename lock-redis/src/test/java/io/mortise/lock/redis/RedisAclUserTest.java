// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisSentinelTestDeployment;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the ACL users in docs/backends/redis.md may run all commands that the backend needs, on each topology. */
@Tag("once")
class RedisAclUserTest {
    private static final String LEASE = "?lease=5s"; // renewed soon, and longer than a pause of the machine

    /** The commands by which Lettuce identifies itself after connecting, and which may be forbidden. */
    private static final Pattern NOT_NEEDED = Pattern.compile("client(\\|.*)?");

    /** Returns the rules of the page's command {@code ACL SETUSER locks} for that topology. */
    private static String[] rules(String topology) throws IOException {
        String page = Files.readString(Path.of("..", "docs", "backends", "redis.md"));
        return Stream.of(Pattern.compile("(?m)^ACL SETUSER locks ([^#]*?) +# " + topology + "\\b")
                        .matcher(page)
                        .results()
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("docs/backends/redis.md has no user for " + topology))
                        .group(1)
                        .split("\\s+", -1))
                .map(rule -> rule.replace("PASSWORD", "s3cret"))
                .toArray(String[]::new);
    }

    private static String[] concat(String[] first, String[] second) {
        return Stream.concat(Stream.of(first), Stream.of(second)).toArray(String[]::new);
    }

    private static RedisServerOptions withUser(String[] rules) {
        return RedisServerOptions.defaults().withKeptData().withUser("locks", rules);
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private static void exercise(LockClient one, LockClient two) throws Exception {
        LockAdmin admin = one.admin().orElseThrow();
        Lease held = one.named("x").acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        Await.until(
                "a waiter",
                RedisTests.SOON,
                () -> get(admin.status("x")).waiters().size() == 1);
        AtomicReference<Duration> remaining = new AtomicReference<>(held.remaining());
        Await.until("it is renewed", RedisTests.SOON, () -> {
            Duration now = held.remaining();
            return now.compareTo(remaining.getAndSet(now)) > 0;
        });
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = waiting.get(20, TimeUnit.SECONDS);
        assertThat(get(admin.list("", 10, "")).locks()).hasSize(1);
        LockHolder holder = get(admin.status("x")).holders().get(0);
        assertThat(get(admin.forceRelease("x", holder))).isTrue();
        assertThat(get(next.lost()).kind()).isNotNull();
        assertThat(get(admin.clocks())).isNotEmpty();
        assertThat(get(admin.diagnose()))
                .extracting(Finding::what)
                .noneMatch(what -> what.contains("not allowed") || what.contains("NOPERM"));
    }

    private static void exercise(String url) throws Exception {
        try (LockClient one = Locks.connect(url, RedisTests.LONG_TIMEOUTS);
                LockClient two = Locks.connect(url, RedisTests.LONG_TIMEOUTS)) {
            exercise(one, two);
        }
    }

    private static void assertNothingWasRefused(RawRedis server) {
        for (Object entry : (List<?>) Objects.requireNonNull(server.call("ACL", "LOG"))) {
            List<?> fields = (List<?>) entry;
            String refused = String.valueOf(fields.get(fields.indexOf("object") + 1));
            assertThat(refused).matches(NOT_NEEDED);
        }
    }

    @Test
    void S19_onOneServer() throws Exception {
        try (RedisTestServer server = RedisTestServer.start(withUser(rules("every server")));
                RawRedis redis = server.connect()) {
            exercise("redis://locks:s3cret@127.0.0.1:" + server.port() + LEASE);
            assertNothingWasRefused(redis);
        }
    }

    @Test
    void S19_onACluster() throws Exception {
        String[] rules = concat(rules("every server"), rules("a cluster"));
        try (RedisTestCluster cluster = RedisTestCluster.start(withUser(rules))) {
            exercise("redis-cluster://locks:s3cret@" + cluster.addresses() + LEASE);
            for (RedisTestServer node : cluster.nodes()) {
                try (RawRedis redis = node.connect()) {
                    assertNothingWasRefused(redis);
                }
            }
        }
    }

    @Test
    void S19_behindSentinelsThatHaveTheirOwnUsers() throws Exception {
        String[] ofSentinel = rules("a sentinel");
        try (RedisSentinelTestDeployment redis =
                RedisSentinelTestDeployment.start(withUser(rules("every server")), 1, 3)) {
            RedisURI.Builder uri = RedisURI.builder()
                    .withSentinelMasterId(RedisSentinelTestDeployment.MASTER_NAME)
                    .withAuthentication("locks", "s3cret".toCharArray());
            for (int port : ports(redis.addresses())) {
                try (RawRedis sentinel = RawRedis.connect(port)) {
                    sentinel.call(concat(new String[] {"ACL", "SETUSER", "locks"}, ofSentinel));
                }
                uri.withSentinel(RedisURI.Builder.redis("127.0.0.1", port)
                        .withAuthentication("locks", "s3cret".toCharArray())
                        .build());
            }
            RedisOptions options = RedisOptions.connectTo(uri.build())
                    .leaseDuration(Duration.ofSeconds(5))
                    .waitReplicas(1);
            try (LockClient one = RedisLocks.connect(options, RedisTests.LONG_TIMEOUTS);
                    LockClient two = RedisLocks.connect(options, RedisTests.LONG_TIMEOUTS)) {
                exercise(one, two);
            }
            for (int port : ports(redis.addresses())) {
                try (RawRedis sentinel = RawRedis.connect(port)) {
                    assertNothingWasRefused(sentinel);
                }
            }
            try (RawRedis master = redis.master().connect()) {
                assertNothingWasRefused(master);
            }
        }
    }

    private static List<Integer> ports(String addresses) {
        return Pattern.compile(":(\\d+)")
                .matcher(addresses)
                .results()
                .map(port -> Integer.valueOf(port.group(1)))
                .toList();
    }
}
