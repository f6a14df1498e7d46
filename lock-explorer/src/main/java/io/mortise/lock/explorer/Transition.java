// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.List;
import java.util.function.Predicate;

/**
 * What one event leads to in one state of a state machine.
 *
 * @param <S> the states
 * @param <E> the events
 * @param <F> the effects
 */
public record Transition<S, E, F>(S from, E event, S to, List<F> effects) {
    /** Returns whether one of the effects is such a one. */
    public boolean has(Predicate<? super F> effect) {
        return effects.stream().anyMatch(effect);
    }
}
