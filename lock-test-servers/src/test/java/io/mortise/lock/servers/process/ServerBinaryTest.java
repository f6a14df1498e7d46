// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServerBinaryTest {
    private static final String REDIS = "mortise.test.redis.binary";
    private static final String ETCD = "mortise.test.etcd.binary";

    @AfterEach
    void clearProperties() {
        List.of(REDIS, ETCD).forEach(System::clearProperty);
    }

    @Test
    void configuredPath_isUsed() {
        String etcd = ServerBinary.etcd().toString();
        System.setProperty(REDIS, etcd);
        assertThat(ServerBinary.redis()).hasToString(etcd);
    }

    @Test
    void missingRedis_isAnErrorThatSaysWhatToInstall() {
        System.setProperty(REDIS, "no-such-server");
        assertThatThrownBy(ServerBinary::redis)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "No no-such-server on the PATH: install it (Debian: apt-get install redis-server")
                .hasMessageNotContaining("\n");
    }

    @Test
    void missingEtcd_isAnErrorThatSaysWhatToInstall() {
        System.setProperty(ETCD, "no-such-server");
        assertThatThrownBy(ServerBinary::etcd)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "No no-such-server on the PATH: install it (Debian: apt-get install etcd-server")
                .hasMessageNotContaining("\n");
    }
}
