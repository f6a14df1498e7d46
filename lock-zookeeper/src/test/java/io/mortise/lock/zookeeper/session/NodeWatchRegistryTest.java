// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NodeWatchRegistryTest {
    private static final NodeWatchRegistry.Listener LISTENER = new NodeWatchRegistry.Listener() {
        @Override
        public void nodeDeleted(String path, boolean released) {}

        @Override
        public void nodeChanged(String path) {}
    };

    /**
     * The client of a dead handle answers a delete on its sender's thread, under a lock that the thread which registers a watch takes
     * too. If the answer took the registry's lock, each would wait for the other.
     */
    @Test
    void S16_aReleaseEndsWhileAnotherThreadRegistersAWatch() {
        NodeWatchRegistry registry = new NodeWatchRegistry();
        registry.add("/watched", LISTENER, () -> {
            CompletableFuture<Void> release = CompletableFuture.runAsync(() -> {
                registry.beginRelease("/released");
                registry.endRelease("/released");
            });
            assertThat(release).succeedsWithin(20, TimeUnit.SECONDS);
        });
    }
}
