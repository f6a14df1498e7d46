// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Superinterface of the contracts: gives each test its {@link ContractFixture}. */
@Timeout(120) // a hang is a failure
abstract class ConformanceTestBase implements Contract {
    private @Nullable ContractFixture fixture;

    ConformanceTestBase() {}

    /** The store with an empty namespace, called once for each test. */
    protected abstract BackendUnderTest backend();

    @BeforeEach
    final void setUpBench() {
        fixture = new ContractFixture(backend());
    }

    @AfterEach
    final void closeBench() {
        if (fixture != null) {
            fixture.close();
        }
    }

    @Override
    public final ContractFixture fixture() {
        return Objects.requireNonNull(fixture);
    }
}
