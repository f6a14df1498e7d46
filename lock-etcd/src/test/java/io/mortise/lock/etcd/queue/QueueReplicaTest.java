// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import java.util.List;
import org.junit.jupiter.api.Test;

class QueueReplicaTest {
    private static final ByteSequence A = EtcdKeyLayout.bytes("a");
    private static final ByteSequence B = EtcdKeyLayout.bytes("b");

    private final QueueReplica replica = new QueueReplica();

    @Test
    void theFirstCreatedIsTheHead() {
        replica.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 7)));
        assertThat(replica.head()).hasValue(new ContenderKey(B, 7));
        replica.deleted(B, 11);
        assertThat(replica.head()).hasValue(new ContenderKey(A, 9));
        replica.put(B, 12, 12);
        assertThat(replica.head()).hasValue(new ContenderKey(A, 9));
        replica.deleted(A, 13);
        replica.deleted(B, 14);
        assertThat(replica.head()).isEmpty();
    }

    /** The watch began before the read, so it reports changes that the read has already seen. */
    @Test
    void eventsThatTheReadHasSeenAreIgnored() {
        replica.reset(10, List.of(new ContenderKey(A, 9)));
        replica.put(A, 5, 5);
        replica.deleted(A, 8);
        replica.put(B, 3, 3);
        assertThat(replica.head()).hasValue(new ContenderKey(A, 9));
        assertThat(replica.isMissing(new ContenderKey(A, 9))).isFalse();
    }

    /** A slot is used again: the same key, but another position. */
    @Test
    void aKeyThatIsCreatedAgainIsAnotherContender() {
        replica.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 10)));
        replica.deleted(A, 11);
        replica.put(A, 12, 12);
        assertThat(replica.head()).hasValue(new ContenderKey(B, 10));
        assertThat(replica.isMissing(new ContenderKey(A, 9))).isTrue();
        assertThat(replica.isMissing(new ContenderKey(A, 12))).isFalse();
    }

    @Test
    void aKeyWhoseValueChangesKeepsItsPosition() {
        replica.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 10)));
        replica.put(A, 9, 11);
        assertThat(replica.head()).hasValue(new ContenderKey(A, 9));
    }

    @Test
    void aKeyThatMayNotHaveBeenSeenYetIsNotMissing() {
        replica.reset(10, List.of());
        assertThat(replica.isMissing(new ContenderKey(A, 11))).isFalse();
        replica.put(B, 12, 12);
        assertThat(replica.isMissing(new ContenderKey(A, 11)))
                .as("a later event was seen, but not this key")
                .isTrue();
    }

    @Test
    void aNewReadReplacesTheContent() {
        replica.reset(10, List.of(new ContenderKey(A, 9)));
        replica.reset(20, List.of(new ContenderKey(B, 15)));
        assertThat(replica.head()).hasValue(new ContenderKey(B, 15));
        assertThat(replica.isMissing(new ContenderKey(A, 9))).isTrue();
    }
}
