// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.servers.etcd.EtcdEntry;
import io.mortise.lock.testkit.process.Await;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** Tests that requests which the server executes very late do no harm. Rules S5 and S8. */
class EtcdAmbiguityTest extends OneServerTest {
    private LockClient client;

    @BeforeEach
    void connect() {
        client = namespace.client(wire);
    }

    @AfterEach
    void close() {
        client.close();
    }

    private long epoch() {
        return namespace.sessions().get(0).version();
    }

    private static void arrive(CompletableFuture<Wire.DelayedRequest> delayed) throws Exception {
        Status executed = delayed.get(5, TimeUnit.SECONDS).arrive().get(5, TimeUnit.SECONDS);
        assertThat(executed.isOk()).as("%s", executed).isTrue();
    }

    @RepeatedTest(3)
    void S08_anAcquireThatArrivesAfterItsWithdrawalPutsNoKey() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        assertThatThrownBy(() -> client.named("x").tryAcquire()).isInstanceOf(BackendUnavailableException.class);
        Await.until("the acquire is withdrawn", SOON, () -> epoch() == 2);
        arrive(delayed);
        assertThat(namespace.keys()).isEmpty();
        client.named("x").tryAcquire().orElseThrow().close();
    }

    /**
     * The second request of the same attempt was granted; the first one must not grant the lock again after the release.
     */
    @Test
    void S08_anAcquireThatArrivesAfterItsOwnReleasePutsNoKey() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        Lease lease = client.named("x").acquire();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        arrive(delayed);
        assertThat(namespace.keys()).isEmpty();
        assertThat(epoch()).isEqualTo(2);
        client.named("x").tryAcquire().orElseThrow().close();
    }

    /** While the same attempt holds the lock, its first request finds the key and changes nothing. */
    @Test
    void S05_S08_anAcquireThatArrivesWhileItsOwnGrantExistsChangesNothing() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        Lease lease = client.named("x").acquire();
        arrive(delayed);
        assertThat(namespace.queue("x"))
                .singleElement()
                .satisfies(key -> assertThat(key.createRevision()).isEqualTo(lease.fencingToken()));
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(namespace.keys()).isEmpty();
    }

    /** The kept key ends with its own lease, whatever arrives before or after that. */
    @Test
    void S05_S08_anAcquireThatArrivesAfterADelayedReleasePutsNoKey() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        Lease lease = client.named("x").acquire();
        assertThat(lease.releaseAfter(Duration.ofSeconds(2))).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(epoch()).isEqualTo(2);
        Await.until("the lock is free", SOON, () -> namespace.queue("x").isEmpty());
        arrive(delayed);
        assertThat(namespace.keys()).isEmpty();
    }

    /**
     * Before the first request of the release an operator deletes the key of the grant, and the acquire that had no reply puts it
     * again.
     */
    private void replaceKeyBefore(String method, CompletableFuture<Wire.DelayedRequest> delayed) {
        String key = namespace.queue("x").get(0).key();
        wire.before(method, () -> {
            namespace.raw().delete(key);
            assertThat(delayed.join().arrive().join().isOk()).isTrue();
        });
    }

    @Test
    void S05_aReleaseThatFindsOnlyTheKeyOfALateAcquireIsALoss() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        Lease lease = client.named("x").acquire();
        replaceKeyBefore("Txn", delayed);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.LOST);
        assertThat(namespace.keys()).isEmpty();
    }

    @Test
    void S05_aDelayedReleaseThatFindsOnlyTheKeyOfALateAcquireKeepsNothing() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("Txn");
        Lease lease = client.named("x").acquire();
        replaceKeyBefore("LeaseGrant", delayed);
        assertThat(lease.releaseAfter(Duration.ofSeconds(30))).isEqualTo(ReleaseOutcome.LOST);
        assertThat(namespace.keys()).isEmpty();
    }

    /** A session without its key has ended: nothing may put it again. */
    @Test
    void S08_aDelayedReleaseDoesNotPutTheDeletedKeyOfItsSessionAgain() throws Exception {
        CompletableFuture<Wire.DelayedRequest> delayed;
        String session;
        do {
            client.close();
            client = namespace.client(wire);
            delayed = wire.delayNext("Txn");
            Lease lease = client.named("x").acquire();
            String present = namespace.sessions().get(0).key();
            wire.before("Txn", () -> namespace.raw().delete(present));
            lease.releaseAfter(Duration.ofSeconds(30));
            session = present;
        } while (namespace.queue("x").isEmpty()); // the client learned of the deletion before its release arrived
        EtcdEntry kept = namespace.queue("x").get(0);
        String key = Base64.getEncoder().encodeToString(session.getBytes(StandardCharsets.UTF_8));
        assertThat(namespace.raw().call("kv/range", Map.of("key", key, "revision", String.valueOf(kept.modRevision()))))
                .as("the session's key at the time of the release")
                .doesNotContainKey("kvs");
        arrive(delayed);
        assertThat(namespace.queue("x")).containsExactly(kept);
    }

    /** The key in that slot belongs to another contender by then. */
    @Test
    void S05_aReleaseThatArrivesLateDoesNotTouchTheNextGrant() throws Exception {
        Lease lease = client.named("x").acquire();
        CompletableFuture<Wire.DelayedRequest> delayed = wire.delayNext("DeleteRange");
        assertThat(lease.release()).isNotEqualTo(ReleaseOutcome.LOST);
        try (Lease next = client.named("x").acquire()) {
            arrive(delayed);
            assertThat(namespace.queue("x"))
                    .singleElement()
                    .satisfies(key -> assertThat(key.createRevision()).isEqualTo(next.fencingToken()));
        }
    }

    /**
     * An acquire that does not wait deletes its key while another client holds the lock; the slot belongs to a waiter when
     * that request arrives.
     */
    @Test
    void S05_aDelayedDeletionOfANonWaitingAcquireSparesTheNextContenderInItsSlot() throws Exception {
        try (LockClient other = namespace.client();
                Lease held = other.named("x").acquire()) {
            List<CompletableFuture<Wire.DelayedRequest>> delayed = new ArrayList<>();
            wire.before("Txn", () -> {}, () -> delayed.add(wire.delayNext("Txn")));
            assertThatThrownBy(() -> client.named("x").tryAcquire()).isInstanceOf(BackendUnavailableException.class);
            Await.until("its key is deleted", SOON, () -> namespace.queue("x").size() == 1);
            CompletableFuture<Lease> waiting = client.named("x").acquireAsync();
            Await.until("the waiter is queued", SOON, () -> namespace.queue("x").size() == 2);
            long position = namespace.queue("x").get(1).createRevision();
            arrive(delayed.get(0));
            assertThat(namespace.queue("x")).hasSize(2);
            assertThat(namespace.queue("x").get(1).createRevision()).isEqualTo(position);
            held.close();
            waiting.get(5, TimeUnit.SECONDS).close();
        }
    }

    @Test
    void S17_manyWithdrawalsLeaveNoKeys() throws Exception {
        for (int i = 0; i < 10; i++) {
            wire.delayNext("Txn");
            assertThatThrownBy(() -> client.named("x").tryAcquire()).isInstanceOf(BackendUnavailableException.class);
            client.named("x").acquire().close();
        }
        assertThat(namespace.keys()).isEmpty();
        assertThat(namespace.sessions()).hasSize(1);
    }
}
