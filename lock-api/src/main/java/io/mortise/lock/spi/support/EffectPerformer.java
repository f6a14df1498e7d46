// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Performs what a step of a state machine leads to. Stateless. */
public final class EffectPerformer {
    private EffectPerformer() {}

    /**
     * Performs all effects in their order. A failure of one does not keep the others.
     *
     * @throws RuntimeException the first exception, or {@link Error}, of an effect, with later ones suppressed
     */
    public static <F> void performAll(List<F> effects, Consumer<? super F> performer) {
        @Nullable Throwable failure = null;
        for (int i = 0; i < effects.size(); i++) {
            try {
                performer.accept(effects.get(i));
            } catch (Throwable e) { // other languages may throw any exception
                failure = first(failure, e);
            }
        }
        rethrow(failure);
    }

    /** Returns the earlier failure, to which the later one is added as suppressed; the later one if there is no earlier one. */
    static Throwable first(@Nullable Throwable earlier, Throwable later) {
        if (earlier == null) {
            return later;
        }
        if (earlier != later) {
            earlier.addSuppressed(later);
        }
        return earlier;
    }

    /** Throws the failure, a checked exception as the cause of an {@link UndeclaredThrowableException}; does nothing without one. */
    static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (failure != null) {
            throw new UndeclaredThrowableException(failure);
        }
    }
}
