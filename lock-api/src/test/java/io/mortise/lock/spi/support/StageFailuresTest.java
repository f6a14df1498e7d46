// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class StageFailuresTest {
    /** As a stage whose function waits for a future. */
    @Test
    void aFailureIsUnwrappedFromAllItsWrappers() {
        Exception original = new Exception("of the driver", new ExecutionException(new Exception("its cause")));
        assertThat(StageFailures.unwrap(new CompletionException(new ExecutionException(original))))
                .isSameAs(original);
    }

    @Test
    void aWrapperWithoutACauseStays() {
        CompletionException empty = new CompletionException("nothing in it", null);
        assertThat(StageFailures.unwrap(new ExecutionException(empty))).isSameAs(empty);
    }
}
