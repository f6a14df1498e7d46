// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/**
 * The contract of every backend, as tests named by rule. Subclass it, implement {@link #backend()}, run it with JUnit:
 *
 * <pre>{@code
 * class MyConformanceTest extends LockConformance {
 *     protected BackendUnderTest backend() {
 *         String url = "mystore://localhost/test-" + UUID.randomUUID(); // a namespace for each test
 *         return options -> Locks.connect(url, options);
 *     }
 * }
 * }</pre>
 *
 * <p>A rule that the backend gives no means to check is reported as aborted with NOT VERIFIED, one about a capability that
 * it does not claim as aborted with "not claimed"; neither counts as passed.
 */
@Timeout(120) // a hang is a failure
public abstract class LockConformance
        implements ExclusionContract,
                ReleaseContract,
                WithdrawalContract,
                WaitingContract,
                NamesContract,
                ClosingContract,
                OperatorContract,
                CapabilityContract,
                CallContract,
                SilenceContract,
                ProcessContract,
                HistoryContract {
    private @Nullable Bench bench;

    /** Called by JUnit for each new instance. */
    protected LockConformance() {}

    /** The store with an empty namespace, called once for each test. */
    protected abstract BackendUnderTest backend();

    @BeforeEach
    final void setUpBench() {
        bench = new Bench(backend());
    }

    @AfterEach
    final void closeBench() {
        if (bench != null) {
            bench.close();
        }
    }

    @Override
    public final Bench bench() {
        return Objects.requireNonNull(bench);
    }
}
