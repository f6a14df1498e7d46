// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import org.junit.jupiter.api.Test;

class RedisInDoubtAcquireTrackerTest {
    private final RedisInDoubtAcquireTracker inDoubt = new RedisInDoubtAcquireTracker();

    @Test
    void withoutRequestsInDoubtAllIsResolved() {
        assertThat(inDoubt.any()).isFalse();
        assertThat(inDoubt.resolvedBy(0, new ServerTime(0))).isTrue();
    }

    @Test
    void S08_aLaterReplyOnTheSameConnectionResolves() {
        inDoubt.add(3, new ServerTime(1_000));
        assertThat(inDoubt.any()).isTrue();
        assertThat(inDoubt.resolvedBy(3, new ServerTime(0))).isTrue();
        assertThat(inDoubt.any()).isFalse();
    }

    @Test
    void S08_onAnotherConnectionOnlyTheServersClockResolves() {
        inDoubt.add(3, new ServerTime(1_000));
        assertThat(inDoubt.resolvedBy(4, new ServerTime(1_000))).isFalse();
        assertThat(inDoubt.any()).isTrue();
        assertThat(inDoubt.resolvedBy(4, new ServerTime(1_001))).isTrue();
    }

    @Test
    void S08_ofSeveralTheOldestConnectionAndTheLatestTimeCount() {
        inDoubt.add(3, new ServerTime(1_000));
        inDoubt.add(4, new ServerTime(2_000));
        assertThat(inDoubt.resolvedBy(4, new ServerTime(1_500)))
                .as("the first may still be executed")
                .isFalse();
        assertThat(inDoubt.resolvedBy(5, new ServerTime(2_001))).isTrue();
        inDoubt.add(9, new ServerTime(500));
        assertThat(inDoubt.resolvedBy(8, new ServerTime(500)))
                .as("a connection to another server")
                .isFalse();
        assertThat(inDoubt.resolvedBy(10, new ServerTime(501)))
                .as("earlier requests have ended")
                .isTrue();
    }
}
