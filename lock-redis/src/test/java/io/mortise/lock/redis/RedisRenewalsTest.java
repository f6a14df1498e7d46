// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the renewal of many grants in one batch, whether it succeeds or fails. */
class RedisRenewalsTest {
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final int BATCH = 250;

    private RedisTestServer server;
    private RawRedis redis;
    private LockClient client;
    private RedisRenewals renewals;
    private LockClock clock;

    @BeforeEach
    void connect() {
        server = RedisTestServer.start(
                RedisServerOptions.defaults().withUser("locks", "on", ">secret", "~lock:*", "&lock:*", "+@all"));
        redis = server.connect();
        AtomicReference<RedisBackend> opened = new AtomicReference<>();
        AtomicReference<BackendContext> context = new AtomicReference<>();
        RedisURI uri = RedisURI.create("redis://locks:secret@127.0.0.1:" + server.port());
        client = BackendClients.open(
                backendContext -> {
                    context.set(backendContext);
                    RedisBackend backend = RedisBackend.open(RedisOptions.connectTo(uri), backendContext);
                    opened.set(backend);
                    return backend;
                },
                RedisTests.LONG_TIMEOUTS);
        clock = Objects.requireNonNull(context.get()).clock();
        RedisConnectionRouter connections = Objects.requireNonNull(opened.get()).connections();
        renewals = new RedisRenewals(connections, new GrantConfirmation(connections), clock, Duration.ofSeconds(5));
    }

    @AfterEach
    void close() {
        client.close();
        redis.close();
        server.close();
    }

    /** One grant in the store, and the outcome of its last renewal. */
    private final class Grant implements GrantValidity.Listener {
        private final RedisGrantValidity validity;
        private final String key;
        private volatile String outcome = "";

        Grant(String name, int number) {
            RedisKeyLayout.OfLock keys = new RedisKeyLayout("lock:").of(new LockName(name));
            key = keys.grant();
            redis.call("SET", key, ScriptFixture.record(number), "PX", "20000");
            validity = new RedisGrantValidity(
                    clock,
                    keys,
                    ScriptFixture.attempt(number),
                    LEASE,
                    clock.now().plus(Duration.ofSeconds(20)));
            validity.attach(this);
        }

        @Override
        public void extended() {
            outcome = "extended";
        }

        @Override
        public void renewalUnknown(Throwable cause) {
            outcome = "unknown";
        }

        @Override
        public void lost(LossReason reason) {
            outcome = reason.kind().toString();
        }
    }

    private List<Grant> grants(String name, int count) {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            grants.add(new Grant(name + i, i));
        }
        return grants;
    }

    private void renew(List<Grant> all) {
        renewals.renew(all.stream().map(grant -> (GrantValidity) grant.validity).toList());
        Await.until(
                "all have an outcome", RedisTests.SOON, () -> all.stream().noneMatch(grant -> grant.outcome.isEmpty()));
    }

    @Test
    void eachGrantHasItsOwnOutcomeAndIsExtendedFromTheTimeOfSending() {
        List<Grant> all = grants("x", 2 * BATCH + 1);
        redis.call("DEL", all.get(3).key);
        redis.call("SET", all.get(BATCH).key, "somebody");
        redis.resetCommandCalls();
        MonotonicInstant before = clock.now();
        renew(all);
        assertThat(redis.commandCalls().getOrDefault("evalsha", 0L)
                        + redis.commandCalls().getOrDefault("eval", 0L))
                .as("three batches, and those sent again with the text of the script")
                .isBetween(3L, 6L);
        for (Grant grant : all) {
            boolean removed = grant == all.get(3) || grant == all.get(BATCH);
            assertThat(grant.outcome).isEqualTo(removed ? "REMOVED" : "extended");
        }
        assertThat(before.until(all.get(0).validity.validUntil()))
                .isBetween(
                        before.until(LockClock.deadline(before, LEASE)),
                        before.until(LockClock.deadline(clock.now(), LEASE)));
        assertThat((Long) redis.call("PTTL", all.get(0).key)).isGreaterThan(25_000L);
    }

    @Test
    void S07_aBatchThatFailsAffectsOnlyItsOwnGrants() {
        List<Grant> good = grants("good", BATCH);
        List<Grant> bad = grants("bad", 10);
        redis.call("ACL", "SETUSER", "locks", "resetkeys", "~lock:good*");
        List<Grant> all = new ArrayList<>(good);
        all.addAll(bad);
        renew(all);
        assertThat(good).allMatch(grant -> grant.outcome.equals("extended"));
        assertThat(bad).allMatch(grant -> grant.outcome.equals("unknown"));
    }
}
