// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.ThreadPoolExecutor;
import org.junit.jupiter.api.Test;

/** Tests that the threads of the core never keep a JVM alive, and that idle ones end. */
class CoreThreadsTest {
    @Test
    void threadsAreNamedDaemons() {
        assertThat(CoreThreads.daemon("mortise-test").newThread(() -> {}))
                .extracting(Thread::getName, Thread::isDaemon)
                .containsExactly("mortise-test-1", true);
    }

    @Test
    void idleThreadsEnd() {
        for (ThreadPoolExecutor pool : List.of(CoreThreads.callbacks(), CoreThreads.blockingCalls())) {
            assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
            pool.shutdown();
        }
    }
}
