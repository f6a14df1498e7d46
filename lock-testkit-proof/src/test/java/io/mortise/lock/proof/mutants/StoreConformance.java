// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.proof.MemoryBackendUnderTest;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;

/** Runs the conformance tests on the in-memory store, without the layers of {@link MutantConformance}, for mutants that patch it. */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // does not wait for a mutant that hangs
class StoreConformance extends LockConformance {
    @Override
    protected BackendUnderTest backend() {
        return new MemoryBackendUnderTest() {
            private final @Nullable ThreadGroup threads = Thread.currentThread().getThreadGroup();

            @Override
            public boolean isServerThread(Thread thread) {
                return thread.getThreadGroup() != threads;
            }
        };
    }
}
