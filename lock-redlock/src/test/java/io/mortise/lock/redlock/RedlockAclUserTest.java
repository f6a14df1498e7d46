// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestMasters;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the ACL user of docs/backends/redis.md may run all commands that Mortise sends to Redlock masters. */
@Tag("once")
class RedlockAclUserTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    /** Returns the documented rules for every server and those for Redlock masters. */
    private static String[] rules() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "backends", "redis.md"));
        List<String> rules = new ArrayList<>();
        Pattern.compile("(?m)^ACL SETUSER locks ([^#]*?) +# (every server|Redlock's masters)")
                .matcher(page)
                .results()
                .forEach(line -> rules.addAll(
                        List.of(line.group(1).replace("PASSWORD", "s3cret").split("\\s+", -1))));
        return rules.toArray(String[]::new);
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    @Test
    void S19_documentedUserCanRunAllOperations() throws Exception {
        RedisServerOptions options = RedisServerOptions.defaults().withUser("locks", rules());
        try (RedisTestMasters masters = RedisTestMasters.start(3, options)) {
            String url = masters.url().replace("redlock://", "redlock://locks:s3cret@") + "?lease=5s&maxLease=5s";
            try (LockClient one = Locks.connect(url, LONG_TIMEOUTS);
                    LockClient two = Locks.connect(url, LONG_TIMEOUTS)) {
                exercise(one, two);
            }
            masters.each(redis -> {
                for (Object entry : (List<?>) Objects.requireNonNull(redis.call("ACL", "LOG"))) {
                    List<?> fields = (List<?>) entry;
                    // Lettuce sends CLIENT commands about itself after it has connected, and tolerates their rejection.
                    assertThat(String.valueOf(fields.get(fields.indexOf("object") + 1)))
                            .matches("client(\\|.*)?");
                }
            });
        }
    }

    private static void exercise(LockClient one, LockClient two) throws Exception {
        LockAdmin admin = one.admin().orElseThrow();
        Lease held = one.named("x").acquire();
        CompletableFuture<Lease> waiting = two.named("x").acquireAsync();
        AtomicReference<Duration> remaining = new AtomicReference<>(held.remaining());
        Await.until("the lease is renewed", SOON, () -> {
            Duration now = held.remaining();
            return now.compareTo(remaining.getAndSet(now)) > 0;
        });
        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = waiting.get(20, TimeUnit.SECONDS);
        assertThat(get(admin.list("", 10, "")).locks()).hasSize(1);
        assertThat(get(admin.forceRelease("x", get(admin.status("x")).holders().get(0))))
                .isTrue();
        assertThat(get(next.lost()).kind()).isNotNull();
        assertThat(get(admin.clocks())).hasSize(3);
        assertThat(get(admin.diagnose()))
                .extracting(Finding::what)
                .noneMatch(what -> what.contains("not allowed") || what.contains("NOPERM"));
    }
}
