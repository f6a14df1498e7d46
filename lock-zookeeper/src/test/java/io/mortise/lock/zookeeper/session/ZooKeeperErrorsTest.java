// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests how the codes of failed requests are reported. */
class ZooKeeperErrorsTest {
    private static LockException exception(Code code) {
        return ZooKeeperErrors.toLockException(KeeperException.create(code, "/locks/a"), "acquire", "zookeeper://zk1");
    }

    /** Servers with local sessions that are not upgraded refuse every ephemeral node. */
    @Test
    void S15_anEphemeralNodeOnALocalSessionIsRefused() {
        assertThat(exception(Code.EPHEMERALONLOCALSESSION))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContainingAll("zookeeper://zk1", "EPHEMERALONLOCALSESSION", "local sessions");
        assertThat(ZooKeeperErrors.isOutcomeUnknown(KeeperException.create(Code.EPHEMERALONLOCALSESSION)))
                .isFalse();
    }

    @ParameterizedTest
    @EnumSource(names = {"CONNECTIONLOSS", "OPERATIONTIMEOUT", "REQUESTTIMEOUT"})
    void S15_silenceIsReportedAsNoAnswer(Code code) {
        assertThat(exception(code))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContainingAll("no answer from zookeeper://zk1", code.name());
    }

    @ParameterizedTest
    @EnumSource(names = {"SYSTEMERROR", "THROTTLEDOP", "SESSIONEXPIRED", "SESSIONMOVED", "NONODE"})
    void S15_anErrorThatMayPassIsNotReportedAsSilence(Code code) {
        assertThat(exception(code))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("acquire at zookeeper://zk1 failed: " + code);
    }
}
