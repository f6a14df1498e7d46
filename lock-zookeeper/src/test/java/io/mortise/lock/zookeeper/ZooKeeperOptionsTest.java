// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests that options outside their limits are refused, and that each method returns a changed copy. */
class ZooKeeperOptionsTest {
    private final ZooKeeperOptions options = ZooKeeperOptions.connectTo("h:2181/apps");

    private static void refused(ThrowingCallable call, String... parts) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class).hasMessageContainingAll(parts);
    }

    @Test
    void S14_invalidOptionsAreRefusedWithTheirLimits() {
        refused(() -> ZooKeeperOptions.connectTo(" "), "connectString is empty", "host:port");
        refused(() -> ZooKeeperOptions.connectTo("h:port"), "connectString is \"h:port\"");
        refused(() -> ZooKeeperOptions.connectTo("h:2181/a//b"), "connectString is \"h:2181/a//b\"");
        refused(() -> options.basePath("locks"), "basePath is \"locks\"", "such as /locks");
        refused(() -> options.basePath(""), "basePath is \"\"");
        refused(() -> options.basePath("/zookeeper"), "basePath is \"/zookeeper\"");
        refused(() -> options.sessionTimeout(Duration.ofMillis(999)), "PT0.999S", "PT1S", "PT1H");
        refused(() -> options.sessionTimeout(Duration.ofSeconds(3601)), "PT1H1S", "PT1S", "PT1H");
        refused(() -> options.sessionTimeout(Duration.ZERO), "PT0S");
        refused(() -> options.acl(List.of()), "acl is empty");
    }

    @Test
    void theLowestAndHighestValuesAreAllowed() {
        assertThat(options.sessionTimeout(Duration.ofSeconds(1)).settings().sessionTimeout())
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(options.sessionTimeout(Duration.ofHours(1)).settings().sessionTimeout())
                .isEqualTo(Duration.ofHours(1));
        assertThat(options.basePath("/").settings().basePath()).isEqualTo("/");
        assertThat(options.basePath("/zookeepers").settings().basePath()).isEqualTo("/zookeepers");
    }

    @Test
    void eachMethodReturnsACopy() {
        ZooKeeperOptions changed = options.basePath("/b")
                .sessionTimeout(Duration.ofSeconds(5))
                .acl(ZooDefs.Ids.CREATOR_ALL_ACL)
                .auth("digest", "ann:s3cr3t".getBytes(StandardCharsets.UTF_8));
        assertThat(options.settings().basePath()).isEqualTo("/locks");
        assertThat(options.settings().sessionTimeout()).isEqualTo(ZooKeeperOptions.DEFAULT_SESSION_TIMEOUT);
        assertThat(options.settings().acl()).isEqualTo(ZooDefs.Ids.OPEN_ACL_UNSAFE);
        assertThat(options.settings().authInfos()).isEmpty();
        assertThat(changed.settings().connectString()).contains("h:2181/apps");
        assertThat(changed.settings().authInfos()).hasSize(1);
        assertThat(changed).hasToString("zookeeper://h:2181/b?chroot=/apps");
    }
}
