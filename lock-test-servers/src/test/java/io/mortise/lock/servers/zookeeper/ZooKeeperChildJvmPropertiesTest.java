// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ZooKeeperChildJvmPropertiesTest {
    @Test
    void childJvmInheritsTheSyncSettingOfThisJvm() {
        String here = System.getProperty("zookeeper.forceSync"); // Maven sets it for all tests
        assertThat(ZooKeeperChildJvmProperties.with(Map.of("a", "b")))
                .isEqualTo(here == null ? Map.of("a", "b") : Map.of("a", "b", "zookeeper.forceSync", here));
    }

    @Test
    void explicitSyncSettingTakesPrecedence() {
        assertThat(ZooKeeperChildJvmProperties.with(Map.of("zookeeper.forceSync", "yes")))
                .containsOnly(Map.entry("zookeeper.forceSync", "yes"));
    }
}
