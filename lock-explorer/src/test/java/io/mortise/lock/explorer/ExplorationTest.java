// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.mortise.lock.explorer.World.Kind;
import io.mortise.lock.explorer.World.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests what is told of an exploration, in a world of two numbers that grow. */
class ExplorationTest {
    private static final int MOST = 3;

    @Test
    void theWayToAViolationCanBeFollowed() {
        String printed =
                Exploration.of(new Numbers(0, 0, 2), 100).counterexample().orElseThrow();
        assertThat(printed.lines())
                .containsExactly("S01: the second is 2 before the first", "1. grows #2", "2. grows #2", "then: 0 2 2");
        assertThat(Exploration.follow(new Numbers(0, 0, 2), printed)).isEqualTo(new Numbers(0, 2, 2));
    }

    @Test
    void aWayEndsAtAViolationAndWhereItIsImpossible() {
        assertThat(Exploration.follow(new Numbers(0, 0, 1), """
                        1. grows #2
                        2. grows
                        """)).isEqualTo(new Numbers(0, 1, 1));
        assertThat(Exploration.follow(new Numbers(0, 0, 0), """
                        1. grows
                        2. shrinks
                        3. grows
                        """)).isEqualTo(new Numbers(1, 0, 0));
    }

    @Test
    void whatIsStuckIsToldOfAllStatesOnly() {
        assertThat(Exploration.of(new Numbers(0, 0, 0), 100).stuck(Kind.PROGRESS))
                .isEmpty();
        assertThat(Exploration.of(new Numbers(0, 0, 0), 100).stuck(Kind.FALLBACK))
                .hasValueSatisfying(what -> assertThat(what).startsWith("no way on but by PROGRESS or OPTIONAL"));
        Exploration<Numbers> partial = Exploration.of(new Numbers(0, 0, 0), 5);
        assertThat(partial.isComplete()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> partial.stuck(Kind.PROGRESS));
    }

    /** @param forbidden what the second must not be while the first is 0; 0 if that is allowed */
    private record Numbers(int first, int second, int forbidden) implements World<Numbers> {
        @Override
        public List<Step<Numbers>> steps() {
            List<Step<Numbers>> steps = new ArrayList<>();
            if (first < MOST) {
                steps.add(new Step<>(() -> "grows", Kind.PROGRESS, new Numbers(first + 1, second, forbidden)));
            }
            if (second < MOST) {
                steps.add(new Step<>(() -> "grows", Kind.PROGRESS, new Numbers(first, second + 1, forbidden)));
            }
            return steps;
        }

        @Override
        public void describe(StateKey key) {
            key.number(first).number(second).number(forbidden);
        }

        @Override
        public Optional<String> violation() {
            return forbidden > 0 && first == 0 && second == forbidden
                    ? Optional.of("S01: the second is " + second + " before the first")
                    : Optional.empty();
        }

        @Override
        public boolean isFinal() {
            return first == MOST && second == MOST;
        }

        @Override
        public List<String> situations() {
            return List.of();
        }
    }
}
