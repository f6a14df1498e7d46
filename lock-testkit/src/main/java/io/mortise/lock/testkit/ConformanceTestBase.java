// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.testkit.report.TestRecorder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.ResourceLockTarget;

/**
 * Base class of the conformance tests, which creates a {@link ContractTestFixture} for each test.
 *
 * <p>The tests mostly wait. Where JUnit's parallel execution is enabled they run concurrently, each in a namespace of its own. A
 * test that stops the server, ends a session, or counts requests, threads or garbage runs alone. A test that fails while the machine
 * stands still is repeated.
 */
@Timeout(120) // a hang is a failure
@Execution(ExecutionMode.CONCURRENT)
@ExtendWith({ConformanceReportExtension.class, PausedTestExtension.class})
@ResourceLock(value = Contract.SERVER, mode = ResourceAccessMode.READ, target = ResourceLockTarget.CHILDREN)
abstract class ConformanceTestBase implements Contract {
    private @Nullable ContractTestFixture fixture;
    private @Nullable TestRecorder recorder;

    ConformanceTestBase() {}

    /** Returns the backend to test, with an empty namespace; called for each test, and
     * again for its repetitions and for each further round of random operations. */
    protected abstract BackendUnderTest backend();

    @BeforeEach
    final void setUpFixture(TestRecorder recorder) {
        this.recorder = recorder;
        fixture = new ContractTestFixture(this::backend, recorder);
    }

    @AfterEach
    final void closeFixture() {
        if (fixture != null) {
            fixture.close();
        }
    }

    /** Ends what a run of the test has opened, for the next run. */
    final void replaceFixture() {
        closeFixture();
        setUpFixture(Objects.requireNonNull(recorder));
    }

    @Override
    public final ContractTestFixture fixture() {
        return Objects.requireNonNull(fixture);
    }
}
