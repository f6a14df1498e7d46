// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.etcd.EtcdProvider;
import io.mortise.lock.etcd.connection.EtcdFailoverConnection;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that the model of etcd, which the exploration uses, answers as a real server does to many sequences of requests. */
class EtcdModelTest {
    private static final int FEW = 40;
    private static final int MANY = 3_000;
    private static final int LANES = 8; // sequences side by side: each waits for one reply at a time

    @Test
    void theModelAnswersAsTheServerDoes() throws Exception {
        compare(0, FEW);
    }

    @Test
    @Tag("long")
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void theModelAnswersAsTheServerDoesToThousandsOfSequences() throws Exception {
        compare(FEW, MANY);
    }

    private void compare(int from, int to) throws Exception {
        CompletableFuture<BackendContext> captured = new CompletableFuture<>();
        try (EtcdTestServer server = EtcdTestServer.start()) {
            LockUrl url = LockUrl.parse("etcd://127.0.0.1:" + server.port());
            try (LockClient client = BackendClients.open(
                    context -> {
                        captured.complete(context);
                        return new EtcdProvider().open(url, context);
                    },
                    ClientOptions.defaults())) {
                EtcdSettings settings = new EtcdSettings(
                        List.of("127.0.0.1:" + server.port()),
                        Optional.empty(),
                        "",
                        EtcdModelComparison.LEASE,
                        Optional.empty(),
                        Optional.empty(),
                        List.of());
                EtcdFailoverConnection connection = new EtcdFailoverConnection(settings, captured.join());
                connection.open();
                try {
                    compare(new EtcdRequestSender(connection, captured.join()), captured.join(), from, to);
                } finally {
                    connection.close();
                }
                assertThat(client).isNotNull();
            }
        }
    }

    private void compare(EtcdRequestSender requests, BackendContext context, int from, int to) throws Exception {
        List<Callable<@Nullable Void>> lanes = new ArrayList<>();
        for (int lane = 0; lane < LANES; lane++) {
            int first = from + lane;
            lanes.add(() -> {
                new EtcdModelComparison(requests, context)
                        .compare(IntStream.iterate(first, seed -> seed < to, seed -> seed + LANES));
                return null;
            });
        }
        ExecutorService threads = Executors.newFixedThreadPool(LANES);
        try {
            for (Future<?> lane : threads.invokeAll(lanes)) {
                lane.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }
}
