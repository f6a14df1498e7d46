// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.explorer.World.Kind;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Explores a protocol in several scopes, and asserts that it keeps its rules, or that a planted defect breaks one. Thread-safe.
 *
 * @param <C> the scopes: values, with the variant of the protocol
 * @param <W> the worlds
 */
public final class ProtocolExplorer<C, W extends World<W>> {
    private final Function<C, W> start;
    private final UnaryOperator<C> withoutDefect;
    private final Predicate<C> needsFallback;
    private final long mostStates;

    /** The scopes in which the rules hold; several tests use some of them. */
    private final Map<C, Exploration<W>> sound = new ConcurrentHashMap<>();

    /**
     * Creates an explorer that has explored nothing.
     *
     * @param start makes the initial world
     * @param withoutDefect returns the same scope with the protocol of production
     * @param needsFallback whether a contender of the scope may end only by {@link Kind#FALLBACK}
     * @param mostStates see {@link Exploration#of}
     */
    public ProtocolExplorer(
            Function<C, W> start, UnaryOperator<C> withoutDefect, Predicate<C> needsFallback, long mostStates) {
        this.start = start;
        this.withoutDefect = withoutDefect;
        this.needsFallback = needsFallback;
        this.mostStates = mostStates;
    }

    /** Asserts that all rules hold in all states of the scope, and that from each one all can end. Remembers the exploration. */
    public Exploration<W> assertRulesHold(C scope) {
        return sound.computeIfAbsent(scope, this::explore);
    }

    /** Asserts the same, and does not remember the exploration, which may be large. */
    public Exploration<W> explore(C scope) {
        return assertRulesHold(scope, start.apply(scope));
    }

    private Exploration<W> assertRulesHold(C scope, W from) {
        Exploration<W> explored = Exploration.of(from, mostStates);
        assertThat(violation(scope, explored)).as("%s", scope).isEmpty();
        return explored;
    }

    /**
     * Asserts that the rules hold in as many states as this explorer may explore, and prints how many these were. If they are not all, whether all can
     * end is not known. Does not remember the exploration.
     */
    public void assertRulesHoldAsFarAsExplored(C scope) {
        Exploration<W> explored = Exploration.of(start.apply(scope), mostStates);
        assertThat(explored.counterexample()).as("%s", scope).isEmpty();
        if (explored.isComplete()) {
            assertThat(violation(scope, explored)).as("%s", scope).isEmpty();
        }
        System.out.println("explored: " + scope + ": " + explored);
    }

    /** Asserts that the defect breaks its rule, and that without it all rules hold in the same scope. */
    public void assertFinds(Defect<C> defect) {
        assertBreaksItsRule(defect, start.apply(defect.scope()));
        assertRulesHold(withoutDefect.apply(defect.scope()));
    }

    /**
     * Asserts that the defect breaks its rule behind the end of a way, and that without it all rules hold there, or where the protocol
     * leaves the way: the test of a defect that is mended, in a scope that takes too long for every run.
     *
     * @param way what an exploration has printed, see {@link Exploration#follow}
     */
    public void assertFinds(Defect<C> defect, String way) {
        assertBreaksItsRule(defect, Exploration.follow(start.apply(defect.scope()), way));
        C sound = withoutDefect.apply(defect.scope());
        assertRulesHold(sound, Exploration.follow(start.apply(sound), way));
    }

    private void assertBreaksItsRule(Defect<C> defect, W from) {
        Exploration<W> explored = Exploration.of(from, mostStates);
        assertThat(violation(defect.scope(), explored))
                .as("%s: %s", defect, explored)
                .hasValueSatisfying(what -> assertThat(what).startsWith(defect.violation()));
    }

    private Optional<String> violation(C scope, Exploration<W> explored) {
        return explored.counterexample()
                .or(() -> (needsFallback.test(scope)
                                ? explored.stuck(Kind.PROGRESS, Kind.FALLBACK)
                                : explored.stuck(Kind.PROGRESS))
                        .map(what -> "S11: " + what));
    }
}
