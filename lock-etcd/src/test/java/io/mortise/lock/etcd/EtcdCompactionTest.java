// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that a client survives a compaction of the store's history. */
@Tag("once")
class EtcdCompactionTest extends OneServerTest {
    /**
     * A renewal would detect the end as well, but the first one is half a minute away. No lock is held, since locks have
     * their own watches.
     */
    @Test
    void S07_aSessionIsWatchedAgainAfterACompactionAndADisconnect() throws Exception {
        try (TcpProxy link = TcpProxy.to("127.0.0.1", server.port());
                LockClient client = EtcdLocks.connect(EtcdOptions.connectTo(List.of("127.0.0.1:" + link.port()))
                        .namespace(namespace.name())
                        .leaseDuration(Duration.ofMinutes(2))
                        .interceptors(List.of(wire)))) {
            Await.until("the session is watched", SOON, () -> wire.watching() == 1);
            assertThat(client.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
            namespace.raw().put(namespace.name() + "other", "1");
            long now = namespace.raw().put(namespace.name() + "other", "2");
            namespace.raw().call("kv/compaction", Map.of("revision", Long.toString(now)));
            link.resetConnections();
            Await.until("there is another stream", SOON, () -> wire.counts().getOrDefault("Watch", 0) > 1);
            Await.until("the session is watched again", SOON, () -> wire.watching() == 1);
            namespace.raw().revokeLease(namespace.sessions().get(0).lease());
            Await.until("the client knows", SOON, () -> wire.counts().containsKey("LeaseRevoke"));
        }
    }
}
