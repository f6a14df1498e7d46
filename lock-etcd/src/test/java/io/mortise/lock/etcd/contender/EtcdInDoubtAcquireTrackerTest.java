// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import org.junit.jupiter.api.Test;

class EtcdInDoubtAcquireTrackerTest {
    private final EtcdInDoubtAcquireTracker inDoubt = new EtcdInDoubtAcquireTracker();

    @Test
    void S08_afterTheWithdrawalHasStartedNoFurtherRequestIsSent() {
        assertThat(inDoubt.beforeSend(1)).isTrue();
        inDoubt.onCompleted(new BackendUnavailableException("no answer"));
        inDoubt.end();
        assertThat(inDoubt.beforeSend(2)).isFalse();
        assertThat(inDoubt.mayStillExecute()).isTrue();
        assertThat(inDoubt.latestEpoch()).isEqualTo(1);
    }
}
