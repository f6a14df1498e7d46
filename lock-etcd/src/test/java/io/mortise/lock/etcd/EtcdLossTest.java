// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how holders and waiters learn that their key or session has ended. */
@Tag("once")
class EtcdLossTest {
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration LEASE = Duration.ofSeconds(4);

    private EtcdTestServer server;
    private OneNamespace namespace;
    private LockClient client;

    @BeforeEach
    void start() {
        server = EtcdTestServer.start(EtcdServerOptions.defaults());
        namespace = OneNamespace.on(server);
        client = EtcdLocks.connect(namespace.options().leaseDuration(LEASE));
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    /** Measures how long the notification takes, as the shortest of several times, since the machine may be busy. */
    private static void assertReportedWithin200Millis(Callable<Duration> loss) throws Exception {
        Duration shortest = loss.call();
        for (int i = 0; i < 4; i++) {
            Duration took = loss.call();
            assertThat(took).isLessThan(LEASE);
            shortest = took.compareTo(shortest) < 0 ? took : shortest;
        }
        assertThat(shortest).isLessThan(Duration.ofMillis(200));
    }

    private static LossReason lost(Lease lease) throws Exception {
        return lease.lost().get(15, TimeUnit.SECONDS);
    }

    @Test
    void S07_aDeletedKeyIsReportedQuickly() throws Exception {
        assertReportedWithin200Millis(() -> {
            Lease lease = client.named("x").acquire();
            long deleted = System.nanoTime();
            namespace.raw().delete(namespace.queue("x").get(0).key());
            assertThat(lost(lease).kind()).isEqualTo(LossReason.Kind.REMOVED);
            Duration took = Duration.ofNanos(System.nanoTime() - deleted);
            assertThat(lease.isHeld()).isFalse();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
            return took;
        });
        assertThat(namespace.sessions()).as("the session continues").hasSize(1);
    }

    @Test
    void S07_aRevokedLeaseIsReportedQuicklyAndTheNextAcquireOpensANewSession() throws Exception {
        assertReportedWithin200Millis(() -> {
            Lease lease = client.named("x").acquire();
            long session = namespace.sessions().get(0).lease();
            long revoked = System.nanoTime();
            namespace.raw().revokeLease(session);
            // The key is deleted with the session, and that event may arrive first.
            assertThat(lost(lease).kind()).isIn(LossReason.Kind.SESSION_ENDED, LossReason.Kind.REMOVED);
            Duration took = Duration.ofNanos(System.nanoTime() - revoked);
            try (Lease next = client.named("x").acquire()) {
                assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
                assertThat(namespace.queue("x").get(0).lease()).isNotEqualTo(session);
            }
            assertThat(lease.isHeld()).isFalse();
            return took;
        });
    }

    /**
     * The loss is reported in time; the shortest of several times counts, since the machine may be busy. What the lease
     * reports is right at any time.
     */
    @Test
    void S02_S07_aFrozenServerIsReportedAsALossBeforeTheLeaseCanEnd() throws Exception {
        Duration soonest = LEASE.multipliedBy(2);
        for (int i = 0; i < 3 && soonest.compareTo(LEASE) >= 0; i++) {
            Duration reported = freeze();
            soonest = reported.compareTo(soonest) < 0 ? reported : soonest;
        }
        assertThat(soonest).isLessThan(LEASE);
    }

    private Duration freeze() throws Exception {
        Lease lease = client.named("x").tryAcquire(Duration.ofSeconds(20)).orElseThrow();
        long frozen = System.nanoTime(); // the last renewal that counts was sent before
        server.pause();
        assertThat(lost(lease).kind()).isEqualTo(LossReason.Kind.EXPIRED);
        Duration reported = Duration.ofNanos(System.nanoTime() - frozen);
        assertThat(lease.isHeld()).isFalse();
        server.resume();
        Lease next = client.named("x").tryAcquire(Duration.ofSeconds(20)).orElseThrow();
        assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
        assertThat(lease.isHeld()).isFalse();
        next.close();
        return reported;
    }

    @Test
    void S01_aWaiterWhoseSessionEndedIsQueuedAgainAndKeepsWaiting() throws Exception {
        try (LockClient holder = namespace.client()) {
            Lease held = holder.named("x").acquire();
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            Await.until("the waiter is queued", SOON, () -> namespace.queue("x").size() == 2);
            long session = namespace.queue("x").get(1).lease();
            namespace.raw().revokeLease(session);
            Await.until(
                    "the waiter is queued again",
                    Duration.ofSeconds(4),
                    () -> namespace.queue("x").size() == 2
                            && namespace.queue("x").get(1).lease() != session);
            assertThat(waiting).isNotDone();
            assertThat(held.isHeld()).isTrue();
            held.close();
            waiting.get(5, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S01_aWaiterWhoseKeyWasDeletedIsQueuedAgain() throws Exception {
        try (LockClient holder = namespace.client()) {
            Lease held = holder.named("x").acquire();
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            Await.until("the waiter is queued", SOON, () -> namespace.queue("x").size() == 2);
            long position = namespace.queue("x").get(1).createRevision();
            namespace.raw().delete(namespace.queue("x").get(1).key());
            Await.until(
                    "the waiter is queued again",
                    Duration.ofSeconds(4),
                    () -> namespace.queue("x").size() == 2
                            && namespace.queue("x").get(1).createRevision() > position);
            assertThat(waiting).isNotDone();
            held.close();
            waiting.get(5, TimeUnit.SECONDS).close();
        }
    }
}
