// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import io.mortise.lock.servers.zookeeper.ZooKeeperServerOptions;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the model of ZooKeeper, which the exploration uses, answers as a real server does to many sequences of requests. */
class ZooKeeperModelTest {
    private static final int FEW = 64;
    private static final int MANY = 3_000;
    private static final int LANES =
            32; // sequences side by side: each often waits 100 ms, which is how long a handle takes to close

    @Test
    void theModelAnswersAsTheServerDoes() throws Exception {
        compare(0, FEW);
    }

    @Test
    @Tag("long")
    @Timeout(value = 10, unit = TimeUnit.MINUTES) // on a busy machine
    void theModelAnswersAsTheServerDoesInThousandsOfSequences() throws Exception {
        compare(FEW, MANY);
    }

    private static void compare(int from, int to) throws Exception {
        // A check of the containers would delete one that is empty for a moment.
        ZooKeeperServerOptions options = ZooKeeperServerOptions.defaults().withContainerCheck(Duration.ofHours(1));
        ExecutorService threads = Executors.newFixedThreadPool(LANES);
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start(options)) {
            List<Callable<@Nullable Void>> lanes = new ArrayList<>();
            for (int lane = 0; lane < LANES; lane++) {
                int first = from + lane;
                lanes.add(() -> {
                    new ZooKeeperModelComparison(server)
                            .compare(IntStream.iterate(first, seed -> seed < to, seed -> seed + LANES));
                    return null;
                });
            }
            for (Future<?> lane : threads.invokeAll(lanes)) {
                lane.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
