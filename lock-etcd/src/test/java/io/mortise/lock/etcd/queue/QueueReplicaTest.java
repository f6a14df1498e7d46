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

    private final QueueReplica view = new QueueReplica();

    @Test
    void theFirstCreatedIsTheHead() {
        view.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 7)));
        assertThat(view.head()).hasValue(new ContenderKey(B, 7));
        view.deleted(B, 11);
        assertThat(view.head()).hasValue(new ContenderKey(A, 9));
        view.put(B, 12, 12);
        assertThat(view.head()).hasValue(new ContenderKey(A, 9));
        view.deleted(A, 13);
        view.deleted(B, 14);
        assertThat(view.head()).isEmpty();
    }

    /** The watch began before the read: it reports again what the read has seen. */
    @Test
    void whatTheLookHasSeenAlreadyDoesNotCount() {
        view.reset(10, List.of(new ContenderKey(A, 9)));
        view.put(A, 5, 5);
        view.deleted(A, 8);
        view.put(B, 3, 3);
        assertThat(view.head()).hasValue(new ContenderKey(A, 9));
        assertThat(view.misses(new ContenderKey(A, 9))).isFalse();
    }

    /** A slot is used again: the same key, another place. */
    @Test
    void aKeyThatWasMadeAnewIsAnotherContender() {
        view.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 10)));
        view.deleted(A, 11);
        view.put(A, 12, 12);
        assertThat(view.head()).hasValue(new ContenderKey(B, 10));
        assertThat(view.misses(new ContenderKey(A, 9))).isTrue();
        assertThat(view.misses(new ContenderKey(A, 12))).isFalse();
    }

    @Test
    void aValueThatChangesKeepsItsPlace() {
        view.reset(10, List.of(new ContenderKey(A, 9), new ContenderKey(B, 10)));
        view.put(A, 9, 11);
        assertThat(view.head()).hasValue(new ContenderKey(A, 9));
    }

    @Test
    void whoIsYetToComeIsNotMissed() {
        view.reset(10, List.of());
        assertThat(view.misses(new ContenderKey(A, 11))).isFalse();
        view.put(B, 12, 12);
        assertThat(view.misses(new ContenderKey(A, 11)))
                .as("later ones were seen, and it was not")
                .isTrue();
    }

    @Test
    void aNewLookForgetsWhatWas() {
        view.reset(10, List.of(new ContenderKey(A, 9)));
        view.reset(20, List.of(new ContenderKey(B, 15)));
        assertThat(view.head()).hasValue(new ContenderKey(B, 15));
        assertThat(view.misses(new ContenderKey(A, 9))).isTrue();
    }
}
