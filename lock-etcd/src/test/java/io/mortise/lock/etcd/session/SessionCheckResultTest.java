// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionCheckResultTest {
    private static final long LEASE = 0x1234;

    private static List<KeyValue> keyOf(long lease) {
        return List.of(new KeyValue(
                io.etcd.jetcd.api.KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8("%session/1234"))
                        .setLease(lease)
                        .build(),
                ByteSequence.EMPTY));
    }

    @Test
    void aKeyReadInTheTermOfTheKeepaliveConfirmsTheSession() {
        assertThat(SessionCheckResult.of(LEASE, 3, 3, keyOf(LEASE))).isEqualTo(SessionCheckResult.VALID);
    }

    /** The old leader's reply does not count, whether the read is of its successor's term or of an older one. */
    @Test
    void S02_aKeepaliveToAReplacedLeaderConfirmsNothing() {
        assertThat(SessionCheckResult.of(LEASE, 3, 4, keyOf(LEASE))).isEqualTo(SessionCheckResult.UNPROVEN);
        assertThat(SessionCheckResult.of(LEASE, 4, 3, keyOf(LEASE))).isEqualTo(SessionCheckResult.UNPROVEN);
    }

    @Test
    void S06_withoutItsKeyASessionHasEndedInAnyTerm() {
        assertThat(SessionCheckResult.of(LEASE, 3, 3, List.of())).isEqualTo(SessionCheckResult.ENDED);
        assertThat(SessionCheckResult.of(LEASE, 3, 4, List.of())).isEqualTo(SessionCheckResult.ENDED);
        assertThat(SessionCheckResult.of(LEASE, 3, 3, keyOf(0))).isEqualTo(SessionCheckResult.ENDED);
        assertThat(SessionCheckResult.of(LEASE, 3, 3, keyOf(LEASE + 1))).isEqualTo(SessionCheckResult.ENDED);
    }
}
