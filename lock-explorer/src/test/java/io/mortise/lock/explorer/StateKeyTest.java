// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests which worlds have one key. */
class StateKeyTest {
    private static final long TIME = 1_700_000_000_000_000L;

    private final StateKey key = new StateKey();

    private long hash(Consumer<StateKey> describe) {
        key.clear();
        describe.accept(key);
        return key.hash();
    }

    @Test
    void onlyTheOrderOfTimesCountsUnlessTheyAreFarApart() {
        long first = hash(it -> it.number(TIME).number(7).number(TIME + 1));
        assertThat(hash(it -> it.number(TIME + 50).number(7).number(TIME + 52))).isEqualTo(first);
        assertThat(hash(it -> it.number(TIME + 1).number(7).number(TIME))).isNotEqualTo(first);
        assertThat(hash(it -> it.number(TIME).number(7).number(TIME))).isNotEqualTo(first);
        assertThat(hash(it -> it.number(TIME).number(7).number(TIME + StateKey.LONG_GAP_MICROS)))
                .isNotEqualTo(first);
    }

    @Test
    void timesSequenceNumbersAndParticipantsAreFoundInTexts() {
        key.clear();
        key.value("at=" + TIME + ".")
                .value("/n-0000000017")
                .value("/n-0000000012")
                .value("#1x");
        key.participants(2, (view, i) -> view.flags(i == 1), (details, i) -> {});
        assertThat(key).hasToString("at=t0./n-1/n-0#1 x-+");
    }

    @Test
    void equalParticipantsMayBeExchanged() {
        assertThat(twoThatWait(0)).isEqualTo(twoThatWait(1)).isNotEqualTo(hash(it -> {
            it.participant(1);
            it.participants(2, (view, i) -> view.value("waits"), (details, i) -> details.number(i));
        }));
    }

    /** One of two that wait also holds, and is first in a queue. */
    private long twoThatWait(int holder) {
        return hash(it -> {
            it.participant(holder).value("#" + holder);
            it.participants(2, (view, i) -> view.flags(i == holder), (details, i) -> details.participant(i));
        });
    }

    @Test
    void theOrderOfUnorderedPartsDoesNotCount() {
        long first = hash(it -> it.unordered(List.of("a", "b"), StateKey::value));
        assertThat(hash(it -> it.unordered(List.of("b", "a"), StateKey::value))).isEqualTo(first);
        assertThat(hash(it -> it.unordered(List.of("b", "b"), StateKey::value))).isNotEqualTo(first);
        assertThat(hash(it -> it.list(List.of("b", "a"), StateKey::value))).isNotEqualTo(first);
    }
}
