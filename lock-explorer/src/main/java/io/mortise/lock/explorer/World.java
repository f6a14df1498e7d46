// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A protocol, its participants and their store at one moment. An immutable value.
 *
 * @param <W> the type itself
 */
public interface World<W extends World<W>> {
    /** The kind of a step; what the kinds are for is in {@link Exploration#stuck}. */
    enum Kind {
        /** A step that happens in the end: a reply arrives, a participant goes on. */
        PROGRESS,
        /** A step that also happens in the end, but only after a timeout that hides a lost message. */
        FALLBACK,
        /** A step that may happen or not: a fault, or a caller that gives up. */
        OPTIONAL
    }

    /**
     * One step.
     *
     * @param label makes the text for a counterexample
     */
    record Step<W>(Supplier<String> label, Kind kind, W next) {}

    /** Returns the name of a phase, an event or an effect: that of the constant, or of the class. */
    static String name(Object what) {
        return what instanceof Enum<?> constant
                ? constant.name()
                : what.getClass().getSimpleName();
    }

    /** Returns all that can happen next, always in the same order. */
    List<Step<W>> steps();

    /**
     * Adds to the key what distinguishes this world: two worlds have one key if and only if the same can happen from both. Worlds
     * that differ only in which of two equal participants is which have one key.
     */
    void describe(StateKey key);

    /**
     * Returns what is wrong in this world, or was in the step to it: the rule and what breaks it; empty if nothing is. The key need
     * not contain it.
     */
    Optional<String> violation();

    /** Returns whether all participants are done. */
    boolean isFinal();

    /** Returns the names of the situations that an exploration should reach and that are present here. */
    List<String> situations();
}
