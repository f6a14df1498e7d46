// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.servers.etcd.EtcdEntry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that the store rejects writes of a former holder that use an {@link EtcdFencingCondition}. Rule S3. */
class EtcdFencingConditionTest extends OneServerTest {
    private LockClient locks;
    private Client application;

    @BeforeEach
    void connect() {
        locks = namespace.client();
        application = Client.builder().endpoints(server.endpoint()).build();
    }

    @AfterEach
    void close() {
        locks.close();
        application.close();
    }

    private boolean writes(EtcdFencingCondition condition, String text) throws Exception {
        return application
                .getKVClient()
                .txn()
                .If(condition.held())
                .Then(Op.put(bytes("of the application"), bytes(text), PutOption.DEFAULT))
                .commit()
                .get(5, TimeUnit.SECONDS)
                .isSucceeded();
    }

    private static ByteSequence bytes(String text) {
        return EtcdKeyLayout.bytes(text);
    }

    private Optional<String> written() {
        return namespace.raw().get("of the application").map(EtcdEntry::value);
    }

    @Test
    void aHolderCanWrite() throws Exception {
        try (Lease lease = locks.named("x").acquire()) {
            EtcdFencingCondition condition = EtcdLocks.fencingCondition(lease);
            assertThat(writes(condition, "held")).isTrue();
            assertThat(written()).hasValue("held");
            assertThat(condition.revision()).isEqualTo(lease.fencingToken());
            assertThat(namespace.queue("x").get(0).key())
                    .isEqualTo(condition.key().toString());
        }
    }

    /** Even if the same client holds the lock again, in the same slot. */
    @Test
    void S03_aStaleHoldersTransactionIsRefused() throws Exception {
        Lease old = locks.named("x").acquire();
        EtcdFencingCondition stale = EtcdLocks.fencingCondition(old);
        old.close();
        assertThat(writes(stale, "too late")).isFalse();
        try (Lease next = locks.named("x").acquire()) {
            assertThat(EtcdLocks.fencingCondition(next).key()).isEqualTo(stale.key());
            assertThat(writes(stale, "far too late")).isFalse();
            assertThat(writes(EtcdLocks.fencingCondition(next), "in time")).isTrue();
        }
        assertThat(written()).hasValue("in time");
    }

    @Test
    void S03_aHolderThatReleasedWithADelayWritesNothing() throws Exception {
        Lease lease = locks.named("x").acquire();
        EtcdFencingCondition condition = EtcdLocks.fencingCondition(lease);
        assertThat(lease.releaseAfter(Duration.ofSeconds(60))).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(namespace.queue("x")).as("kept").hasSize(1);
        assertThat(writes(condition, "after")).isFalse();
    }

    @Test
    void S03_aLeaseWhoseSessionWasRevokedWritesNothing() throws Exception {
        Lease lease = locks.named("x").acquire();
        EtcdFencingCondition condition = EtcdLocks.fencingCondition(lease);
        assertThat(writes(condition, "before")).isTrue();
        namespace.raw().revokeLease(namespace.queue("x").get(0).lease());
        assertThat(writes(condition, "after")).isFalse();
        assertThat(written()).hasValue("before");
    }

    @Test
    void unwrapReturnsEmptyForOtherTypes() throws Exception {
        try (Lease lease = locks.named("x").acquire()) {
            assertThat(lease.unwrap(String.class)).isEmpty();
        }
    }
}
