// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.LockUrl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class ClientStartupTuningTest {
    private static final String NO_NATIVE = "io.netty.transport.noNative";
    private static final String TRUST = "javax.net.ssl.trustStore";

    @BeforeEach
    @AfterEach
    void clearProperties() {
        System.clearProperty(NO_NATIVE);
        System.clearProperty(TRUST);
        System.clearProperty("zookeeper.client.secure");
    }

    @Test
    void certificatesAreNotReadForZooKeeperWithoutTls() {
        ClientStartupTuning.of(LockUrl.parse("zookeeper://h:2181/x"));
        assertThat(System.getProperty(TRUST)).isEqualTo("NONE");
    }

    @Test
    void certificatesAreReadIfTlsIsPossible() {
        ClientStartupTuning.of(LockUrl.parse("zookeeper://h:2181/x?clientConfig=/tls.properties"));
        ClientStartupTuning.of(LockUrl.parse("etcds://h:2379"));
        ClientStartupTuning.of(LockUrl.parse("rediss://h:6379"));
        System.setProperty("zookeeper.client.secure", "true");
        ClientStartupTuning.of(LockUrl.parse("zookeeper://h:2181/x"));
        assertThat(System.getProperty(TRUST)).isNull();
    }

    @Test
    void nativeCodeIsLoadedOnlyForAUnixSocket() {
        ClientStartupTuning.of(LockUrl.parse("redis-socket:///redis.sock"));
        assertThat(System.getProperty(NO_NATIVE)).isNull();
        ClientStartupTuning.of(LockUrl.parse("redis://h"));
        assertThat(System.getProperty(NO_NATIVE)).isEqualTo("true");
    }

    @Test
    void propertiesSetByTheUserAreKept() {
        System.setProperty(TRUST, "/mine");
        ClientStartupTuning.of(LockUrl.parse("zookeeper://h:2181/x"));
        assertThat(System.getProperty(TRUST)).isEqualTo("/mine");
    }
}
