// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.internal.ElectionReporter;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests a campaign that cannot be reported to the listeners of the client. */
class ElectionReportTest {
    /** Otherwise a close would wait for it in vain. */
    @Test
    void S16_aCampaignThatCannotBeReportedEnds() throws Exception {
        Error full = new OutOfMemoryError("for the test");
        DistributedLock lock = (DistributedLock) Proxy.newProxyInstance(
                ElectionReporter.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class, ElectionReporter.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("name")) {
                        return "x";
                    }
                    throw full;
                });
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Election election = Election.on(lock)
                .threads(task -> {
                    Thread thread = new Thread(task);
                    thread.setUncaughtExceptionHandler((failed, failure) -> thrown.complete(failure));
                    return thread;
                })
                .run(term -> {});
        assertThat(thrown.get(20, TimeUnit.SECONDS)).isSameAs(full);
        assertThat(election.isRunning()).isFalse();
        election.closeAsync().get(20, TimeUnit.SECONDS);
    }
}
