// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import org.junit.jupiter.api.Test;

class EtcdInDoubtAcquiresTest {
    private final EtcdInDoubtAcquires unanswered = new EtcdInDoubtAcquires();

    @Test
    void S08_afterTheWithdrawalNothingIsSentThatItWouldNotDefeat() {
        assertThat(unanswered.sending(1)).isTrue();
        unanswered.sent(new BackendUnavailableException("no answer"));
        unanswered.end();
        assertThat(unanswered.sending(2)).isFalse();
        assertThat(unanswered.mayCome()).isTrue();
        assertThat(unanswered.epoch()).isEqualTo(1);
    }
}
