// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * All transitions of a pure state machine: of each event, in each state that can be reached.
 *
 * @param <S> the states: values
 * @param <E> the events: values
 * @param <F> the effects
 */
public final class TransitionGraph<S, E, F> implements Iterable<Transition<S, E, F>> {
    private final List<Transition<S, E, F>> transitions;
    private final Set<E> impossible;

    /** Creates the graph of transitions that were found otherwise. */
    public TransitionGraph(List<Transition<S, E, F>> transitions) {
        this(transitions, Set.of());
    }

    private TransitionGraph(List<Transition<S, E, F>> transitions, Set<E> impossible) {
        this.transitions = transitions;
        this.impossible = impossible;
    }

    /**
     * Takes all events in all states.
     *
     * @param initial the states at the start
     * @param events returns the events to take in a state
     * @param machine returns what an event leads to; throws an {@link IllegalStateException} if the event is impossible
     * @param next returns the state to which that leads
     * @param effects returns the effects of it
     * @param normalized returns the state that stands for all states of which the same is true, so that there are few
     * @param <T> what an event leads to
     */
    public static <S, E, F, T> TransitionGraph<S, E, F> of(
            Collection<S> initial,
            Function<S, ? extends Collection<? extends E>> events,
            BiFunction<S, E, T> machine,
            Function<T, S> next,
            Function<T, List<F>> effects,
            UnaryOperator<S> normalized) {
        TransitionGraph<S, E, F> graph = new TransitionGraph<>(new ArrayList<>(), new HashSet<>());
        Set<S> known = new LinkedHashSet<>(initial);
        Deque<S> open = new ArrayDeque<>(known);
        while (!open.isEmpty()) {
            S from = open.remove();
            for (E event : events.apply(from)) {
                T step;
                try {
                    step = machine.apply(from, event);
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining(" is impossible in ");
                    graph.impossible.add(event);
                    continue;
                }
                graph.transitions.add(new Transition<>(from, event, next.apply(step), effects.apply(step)));
                S to = normalized.apply(next.apply(step));
                if (known.add(to)) {
                    open.add(to);
                }
            }
        }
        return graph;
    }

    @Override
    public Iterator<Transition<S, E, F>> iterator() {
        return Collections.unmodifiableList(transitions).iterator();
    }

    /** Returns the events that are impossible in some state. */
    public Set<E> impossible() {
        return Collections.unmodifiableSet(impossible);
    }

    /** Returns some of the transitions. */
    public TransitionGraph<S, E, F> filter(Predicate<Transition<S, E, F>> wanted) {
        return new TransitionGraph<>(transitions.stream().filter(wanted).toList(), impossible);
    }

    /**
     * Asserts that each call of a kind has one outcome: with the transition after which it is not pending any more.
     *
     * @param pending whether a call is pending in a state
     * @param call whether an event is a call
     * @param outcome whether an effect is the outcome of a call
     */
    public void assertOneOutcome(Predicate<S> pending, Predicate<E> call, Predicate<F> outcome) {
        for (Transition<S, E, F> taken : transitions) {
            boolean isDue = (pending.test(taken.from()) || call.test(taken.event())) && !pending.test(taken.to());
            assertThat(taken.effects().stream().filter(outcome).count())
                    .as("%s", taken)
                    .isEqualTo(isDue ? 1 : 0);
        }
    }

    /** Returns the names of the events of each arrow between the phases of its states, for {@link ProtocolPage}. */
    public Map<String, Set<String>> arrows(Function<S, ?> phase) {
        Map<String, Set<String>> arrows = new HashMap<>();
        for (Transition<S, E, F> taken : transitions) {
            arrows.computeIfAbsent(
                            ProtocolPage.arrow(phase.apply(taken.from()), phase.apply(taken.to())),
                            arrow -> new TreeSet<>())
                    .add(World.name(taken.event()));
        }
        return arrows;
    }
}
