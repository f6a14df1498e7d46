// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Superinterface of the contracts: gives each test its {@link Bench}. */
@Timeout(120) // a hang is a failure
abstract class Conformance implements Contract {
    private @Nullable Bench bench;

    Conformance() {}

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
