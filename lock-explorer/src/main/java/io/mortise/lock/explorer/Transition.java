// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.List;
import java.util.function.Predicate;

/**
 * A transition of a state machine: from one state, by one event, to a state and effects.
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
