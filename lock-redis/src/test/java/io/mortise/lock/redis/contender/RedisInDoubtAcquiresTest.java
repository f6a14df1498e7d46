// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redis.node.ServerTime;
import org.junit.jupiter.api.Test;

class RedisInDoubtAcquiresTest {
    private final RedisInDoubtAcquires unanswered = new RedisInDoubtAcquires();

    @Test
    void withoutAnyAllIsResolved() {
        assertThat(unanswered.any()).isFalse();
        assertThat(unanswered.resolvedBy(0, new ServerTime(0))).isTrue();
    }

    @Test
    void S08_aLaterAnswerOnTheSameConnectionResolves() {
        unanswered.add(3, new ServerTime(1_000));
        assertThat(unanswered.any()).isTrue();
        assertThat(unanswered.resolvedBy(3, new ServerTime(0))).isTrue();
        assertThat(unanswered.any()).isFalse();
    }

    @Test
    void S08_onAnotherConnectionOnlyTheServersClockDoes() {
        unanswered.add(3, new ServerTime(1_000));
        assertThat(unanswered.resolvedBy(4, new ServerTime(1_000))).isFalse();
        assertThat(unanswered.any()).isTrue();
        assertThat(unanswered.resolvedBy(4, new ServerTime(1_001))).isTrue();
    }

    @Test
    void S08_ofSeveralTheOldestConnectionAndTheLatestTimeCount() {
        unanswered.add(3, new ServerTime(1_000));
        unanswered.add(4, new ServerTime(2_000));
        assertThat(unanswered.resolvedBy(4, new ServerTime(1_500)))
                .as("the first may still come")
                .isFalse();
        assertThat(unanswered.resolvedBy(5, new ServerTime(2_001))).isTrue();
        unanswered.add(9, new ServerTime(500));
        assertThat(unanswered.resolvedBy(8, new ServerTime(500)))
                .as("a connection to another server")
                .isFalse();
        assertThat(unanswered.resolvedBy(10, new ServerTime(501)))
                .as("earlier requests have ended")
                .isTrue();
    }
}
