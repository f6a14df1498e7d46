// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.report.RuleNotCheckedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Tests that many virtual threads can use a client without blocking the renewal of its leases. */
interface VirtualThreadsContract extends Contract {
    int THREADS = 1000;
    int LOCKS = 500;

    @Test
    @ResourceLock(Contract.SERVER)
    default void S07_aThousandVirtualThreadsDoNotStopRenewals() throws Exception {
        ExecutorService threads = virtualThreads();
        try {
            // A thousand acquires at once may take longer than the usual request timeout.
            LockClient client = fixture()
                    .client(ClientOptions.defaults()
                            .callbackExecutor(threads)
                            .requestTimeout(ContractTestFixture.LONG)
                            .unavailableAfter(ContractTestFixture.LONG));
            crowd(client, threads);
            Lease kept = client.named("kept", fixture().shortLease(client)).acquire();
            Duration longer = fixture().backend().lease().multipliedBy(3).dividedBy(2);
            ContractTestFixture.letPass("a lease and a half pass", longer);
            kept.ensureHeld();
            kept.close();
        } finally {
            threads.shutdownNow();
        }
    }

    /** Lets each virtual thread acquire a lock with a time limit, so that virtual threads start and cancel timers. */
    private static void crowd(LockClient client, ExecutorService threads) throws Exception {
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int lock = i % LOCKS;
            all.add(threads.submit(() -> {
                client.named("x" + lock)
                        .tryAcquire(ContractTestFixture.LONG)
                        .orElseThrow()
                        .close();
                return null;
            }));
        }
        ApiStyle.awaitAll(all);
    }

    /** Uses reflection, since Java 17 compiles this code but has no virtual threads. */
    private static ExecutorService virtualThreads() {
        try {
            return (ExecutorService)
                    Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw RuleNotCheckedException.notApplicable("this Java version has no virtual threads");
        }
    }
}
