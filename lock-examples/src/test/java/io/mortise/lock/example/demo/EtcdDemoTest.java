// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
@Tag("long")
class EtcdDemoTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void succeedsAndLeavesNoKeys() {
        try (EtcdTestServer server = EtcdTestServer.start()) {
            RawEtcd etcd = server.connect();

            DemoByUrl.assertDemoSucceeds(server.url());

            Await.until(
                    "the keys of killed workers are deleted",
                    SOON,
                    () -> etcd.list("").isEmpty());
        }
    }
}
