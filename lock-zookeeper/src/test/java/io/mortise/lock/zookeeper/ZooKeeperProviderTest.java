// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that URLs are mapped to options, and that invalid values are refused before any I/O. */
class ZooKeeperProviderTest {
    private static final String SECRET = "s3cr3t";

    private static ZooKeeperSettings settings(String url) {
        return ZooKeeperProvider.options(LockUrl.parse(url)).settings();
    }

    @Test
    void aUrlWithoutParametersUsesTheDefaults() {
        ZooKeeperSettings settings = settings("zookeeper://localhost");
        assertThat(settings.connectString()).contains("localhost:2181");
        assertThat(settings.basePath()).isEqualTo("/locks");
        assertThat(settings.sessionTimeout()).isEqualTo(Duration.ofSeconds(15));
        assertThat(ZooKeeperSettings.isOpenToAll(settings.acl())).isTrue();
        assertThat(settings.authInfos()).isEmpty();
        assertThat(settings.clientConfig()).isEmpty();
        assertThat(settings("zookeeper://localhost/").basePath()).isEqualTo("/locks");
    }

    @Test
    void everyPartOfTheUrlIsUsed() {
        ZooKeeperSettings settings = settings("zookeeper://h1:2182,h2,[::1]:2183/a/b?sessionTimeout=7s&chroot=/apps/x");
        assertThat(settings.connectString()).contains("h1:2182,h2:2181,[::1]:2183/apps/x");
        assertThat(settings.basePath()).isEqualTo("/a/b");
        assertThat(settings).hasToString("zookeeper://h1:2182,h2:2181,[::1]:2183/a/b?chroot=/apps/x");
        assertThat(settings.sessionTimeout()).isEqualTo(Duration.ofSeconds(7));
    }

    @Test
    void S19_aUserSelectsDigestAndNodesForThisUserOnly() {
        ZooKeeperSettings settings = settings("zookeeper://ann:" + SECRET + "@localhost");
        assertThat(settings.authInfos()).hasSize(1);
        assertThat(settings.acl()).isEqualTo(ZooDefs.Ids.CREATOR_ALL_ACL);
        assertThat(ZooKeeperSettings.isOpenToAll(settings.acl())).isFalse();
        assertThat(settings.toString()).doesNotContain(SECRET);
        assertThat(settings.authInfos().toString()).doesNotContain(SECRET);
        assertThat(ZooKeeperSettings.isOpenToAll(settings("zookeeper://ann:" + SECRET + "@localhost?acl=open")
                        .acl()))
                .isTrue();
    }

    @Test
    void S19_openMeansThatAnyoneMayDoMoreThanRead() {
        ACL anyoneReads = new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ACL anyoneCreates = new ACL(ZooDefs.Perms.CREATE, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ACL creator = ZooDefs.Ids.CREATOR_ALL_ACL.get(0);
        assertThat(ZooKeeperSettings.isOpenToAll(List.of(creator, anyoneReads))).isFalse();
        assertThat(ZooKeeperSettings.isOpenToAll(List.of(creator, anyoneCreates)))
                .isTrue();
        assertThat(ZooKeeperSettings.isOpenToAll(ZooDefs.Ids.OPEN_ACL_UNSAFE)).isTrue();
        assertThat(ZooKeeperSettings.isOpenToAll(ZooDefs.Ids.READ_ACL_UNSAFE)).isFalse();
    }

    private static final String SECURE = "zookeeper.client.secure=true\n";
    private static final String NETTY = "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty\n";

    @Test
    void S19_aPasswordWithoutTlsIsReported(@TempDir Path dir) throws Exception {
        Path tls = Files.writeString(dir.resolve("tls.cfg"), SECURE + NETTY);
        String user = "zookeeper://ann:" + SECRET + "@h1,h2";
        assertThat(exposure("zookeeper://h1,h2")).contains("open to everyone");
        assertThat(exposure(user)).contains("without TLS").doesNotContain("open to everyone", SECRET);
        assertThat(exposure(user + "?clientConfig=" + tls)).isEqualTo("[]");
        assertThat(exposure("zookeeper://localhost")).contains("INFO", "on this machine");
    }

    private static String exposure(String url) {
        return settings(url).exposureCheck().findings().toString();
    }

    @Test
    void aClientConfigFileIsRead(@TempDir Path dir) throws Exception {
        Path file = Files.writeString(dir.resolve("client.cfg"), SECURE + NETTY);
        ZooKeeperSettings settings = settings("zookeeper://localhost?acl=creator&clientConfig=" + file);
        assertThat(settings.clientConfig())
                .hasValueSatisfying(config -> assertThat(config.getBoolean(ZKClientConfig.SECURE_CLIENT))
                        .isTrue());
        assertThat(ZooKeeperSettings.isOpenToAll(settings.acl())).isFalse();
    }

    /** ZooKeeper's client ignores the one setting without the other, and connects without TLS. */
    @Test
    void S19_tlsWithoutNettyIsRefusedSinceItWouldSendInTheClear(@TempDir Path dir) throws Exception {
        Path file = Files.writeString(dir.resolve("client.cfg"), SECURE);
        assertThatThrownBy(() -> settings("zookeeper://localhost?clientConfig=" + file))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContainingAll("zookeeper.clientCnxnSocket=ClientCnxnSocketNetty", "in the clear");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "zookeeper://                                  | no host",
                "zookeeper:name                                | no host",
                "zookeeper://h:0                               | port \"0\", must be from 1 to 65535",
                "zookeeper://h:65536                           | port \"65536\", must be from 1 to 65535",
                "zookeeper://h:x                               | must be from 1 to 65535",
                "zookeeper://h,,i                              | has no host in \"\"",
                "zookeeper://h//a                              | basePath is \"//a\"",
                "zookeeper://h/a/                              | basePath is \"/a/\"",
                "zookeeper://h/a/../b                          | basePath is \"/a/../b\"",
                "zookeeper://h/a%00b                           | basePath is",
                "zookeeper://h/zookeeper                       | basePath is \"/zookeeper\", must not be",
                "zookeeper://h/zookeeper/locks                 | basePath is \"/zookeeper/locks\", must not be",
                "zookeeper://h/a%2                             | percent escape",
                "zookeeper://h?sessionTimeout=999ms            | sessionTimeout is PT0.999S, must be from PT1S to PT1H",
                "zookeeper://h?sessionTimeout=61m              | sessionTimeout is PT1H1M, must be from PT1S to PT1H",
                "zookeeper://h?sessionTimeout=fast             | sessionTimeout=fast must be a duration",
                "zookeeper://h?sessionTimeout=-PT5S            | sessionTimeout=-PT5S must be zero or more",
                "zookeeper://h?chroot=apps                     | chroot is \"apps\", must be a path",
                "zookeeper://h?chroot=/                        | chroot is \"/\", must be a path",
                "zookeeper://h?chroot=/a//b                    | /a//b",
                "zookeeper://h?chroot=/a/                      | /a/",
                "zookeeper://h?chroot=                         | chroot is \"\", must be a path",
                "zookeeper://h?acl=closed                      | acl is \"closed\", must be open or creator",
                "zookeeper://h?acl=creator                     | acl=creator needs a user",
                "zookeeper://h?clientConfig=/no/such/file      | clientConfig \"/no/such/file\" cannot be read",
                "zookeeper://ann@h                             | user \"ann\" has no password",
                "zookeeper://a%3Ab:pw@h                        | user is \"a:b\", must not contain a colon",
                "zookeeper://h?leaseDuration=5s                | unknown URL parameter \"leaseDuration\": zookeeper takes [acl",
                "zookeeper://h?SessionTimeout=5s               | unknown URL parameter \"SessionTimeout\"",
                "zookeeper://h?acl=open&acl=open               | \"acl\" twice",
                "zookeepers://h                                | no provider for scheme \"zookeepers\"",
            })
    void S14_invalidValuesAreRefusedWithTheirValueAndLimit(String url, String expected) {
        assertThatThrownBy(() -> Locks.connect(url))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining(expected);
    }

    @ParameterizedTest
    @CsvSource({"?sessionTimeout=1ms", "//a", "?acl=closed", "?chroot=x", "?clientConfig=/no/such/file", "?colour=red"})
    void S14_invalidValuesOpenNoConnectionAndS19_doNotPrintThePassword(String bad) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String url = "zookeeper://ann:" + SECRET + "@127.0.0.1:" + server.getLocalPort() + bad;
            assertThatThrownBy(() -> Locks.connect(url))
                    .isInstanceOf(LockConfigurationException.class)
                    .satisfies(error -> {
                        for (Throwable at = error; at != null; at = at.getCause()) {
                            assertThat(at.toString()).doesNotContain(SECRET);
                        }
                    });
            server.setSoTimeout(50);
            assertThatThrownBy(server::accept).isInstanceOf(SocketTimeoutException.class);
        }
    }
}
