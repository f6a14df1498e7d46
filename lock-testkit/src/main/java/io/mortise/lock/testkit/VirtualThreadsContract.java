// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Contract that no call blocks a carrier of virtual threads. A blocked carrier thread shows. */
interface VirtualThreadsContract extends Contract {
    int THREADS = 1000;
    int LOCKS = 500;

    @Test
    default void S07_aThousandVirtualThreadsStopNoRenewal() throws Exception {
        ExecutorService threads = virtualThreads();
        try {
            LockClient client = fixture().client(ClientOptions.defaults().callbackExecutor(threads));
            crowd(client, threads);
            Lease kept = client.named("kept", fixture().shortLease(client)).acquire();
            Duration longer = fixture().backend().lease().multipliedBy(3).dividedBy(2);
            ContractFixture.eventually(
                    "a lease and a half pass", ContractFixture.LONG, ContractFixture.timePasses(longer));
            kept.ensureHeld();
            kept.close();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Each takes a lock, one after the other, with a deadline, so that timers are set and cancelled by virtual threads. */
    private static void crowd(LockClient client, ExecutorService threads) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int lock = i % LOCKS;
            all.add(threads.submit(() -> {
                client.named("x" + lock)
                        .tryAcquire(ContractFixture.LONG)
                        .orElseThrow()
                        .close();
                return null;
            }));
        }
        for (Future<?> each : all) {
            ApiStyle.result(each);
        }
    }

    /** Java 17 compiles this, and has none. */
    private static ExecutorService virtualThreads() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw ContractFixture.notVerified("S07 with virtual threads", "this Java has none");
        }
    }
}
