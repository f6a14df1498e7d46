// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.UndeclaredThrowableException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that tasks run one after another, even if some of them fail. */
class TrampolineTest {
    private final List<String> ran = new ArrayList<>();

    @Test
    void S11_aFailedTaskDoesNotPreventTheOthers() {
        StackOverflowError error = new StackOverflowError("the first");
        assertThatThrownBy(() -> Trampoline.run(() -> {
                    Trampoline.run(() -> ran.add("second"));
                    Trampoline.run(() -> {
                        throw new IllegalStateException("the third");
                    });
                    Trampoline.run(() -> ran.add("fourth"));
                    ran.add("first");
                    throw error;
                }))
                .isSameAs(error)
                .hasSuppressedException(new IllegalStateException("the third"));
        assertThat(ran).containsExactly("first", "second", "fourth");
        Trampoline.run(() -> ran.add("at once"));
        assertThat(ran).endsWith("at once");
    }

    /** As code in Kotlin may throw. */
    @Test
    void S11_aCheckedExceptionDoesNotPreventTheOthers() {
        Exception checked = new Exception("checked");
        assertThatThrownBy(() -> Trampoline.run(() -> {
                    Trampoline.run(() -> ran.add("second"));
                    UndeclaredThrow.of(checked);
                }))
                .isInstanceOf(UndeclaredThrowableException.class)
                .hasCause(checked);
        Trampoline.run(() -> ran.add("at once"));
        assertThat(ran).containsExactly("second", "at once");
    }
}
