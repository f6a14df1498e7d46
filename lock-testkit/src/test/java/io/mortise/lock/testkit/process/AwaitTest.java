// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests waits that end because their condition fails. */
class AwaitTest {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    @Test
    void aCheckedExceptionEndsTheWait() {
        IOException failure = new IOException("unreadable");
        assertThatThrownBy(() -> Await.until("it is read", LIMIT, () -> {
                    throw failure;
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasCause(failure);
    }

    @Test
    void anInterruptEndsTheWaitAndIsKept() {
        boolean held = Await.holdsWithin(LIMIT, () -> {
            throw new InterruptedException();
        });
        assertThat(Thread.interrupted()).isTrue();
        assertThat(held).isFalse();
    }
}
