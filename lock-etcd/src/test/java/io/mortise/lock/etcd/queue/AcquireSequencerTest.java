// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AcquireSequencerTest {
    private final AcquireSequencer order = new AcquireSequencer();
    private final List<String> told = new ArrayList<>();

    private final class Named implements AcquireSequencer.Sender {
        private final String name;
        private boolean wanted = true;

        Named(String name) {
            this.name = name;
        }

        @Override
        public void mayGo() {
            told.add(name + " goes");
        }

        @Override
        public void behind() {
            told.add(name + " is behind");
            leavesIfUnwanted();
        }

        @Override
        public void unsent() {
            told.add(name + " is not sent");
            leavesIfUnwanted();
        }

        /** As the core withdraws it, once its attempt has been answered. */
        private void leavesIfUnwanted() {
            if (!wanted) {
                order.leave(this);
            }
        }

        @Override
        public boolean isWanted() {
            return wanted;
        }
    }

    private final Named a = new Named("a");
    private final Named b = new Named("b");
    private final Named c = new Named("c");

    private void allAsk() {
        assertThat(order.mayGo(a)).isTrue();
        assertThat(order.mayGo(b)).isFalse();
        assertThat(order.mayGo(c)).isFalse();
    }

    @Test
    void S12_oneGoesAtATimeInOrder() {
        allAsk();
        order.answered(a, true);
        assertThat(told).containsExactly("b is behind", "c is behind", "b goes");
        assertThat(order.mayGo(b)).as("it has its turn still").isTrue();
        order.answered(b, true);
        assertThat(told).containsExactly("b is behind", "c is behind", "b goes", "c goes");
        order.answered(c, true);
        assertThat(order.mayGo(a)).isTrue();
    }

    @Test
    void S09_whoIsBehindIsToldWithEachAnswerForWhichItAsked() {
        allAsk();
        order.answered(a, true);
        told.clear();
        assertThat(order.mayGo(c)).isFalse();
        order.answered(a, true);
        order.answered(a, true);
        assertThat(told).containsExactly("c is behind");
    }

    @Test
    void whoAsksAgainKeepsItsPlace() {
        allAsk();
        assertThat(order.mayGo(b)).isFalse();
        order.answered(a, true);
        assertThat(told).containsExactly("b is behind", "c is behind", "b goes");
    }

    @Test
    void S10_whoLeavesPassesItsTurnOn() {
        allAsk();
        order.answered(a, true);
        told.clear();
        order.leave(b);
        order.leave(b);
        assertThat(told).containsExactly("c goes");
        order.leave(c);
        assertThat(order.mayGo(a)).isTrue();
    }

    @Test
    void S10_whoLeavesTheLineIsNotTold() {
        allAsk();
        order.leave(b);
        order.answered(a, true);
        assertThat(told).containsExactly("c is behind", "c goes");
    }

    @Test
    void S15_whileTheStoreIsSilentNobodyWaitsForAnother() {
        allAsk();
        order.open();
        assertThat(told).containsExactly("b goes", "c goes");
        assertThat(order.mayGo(a)).isTrue();
        assertThat(order.mayGo(b)).isTrue();
        order.answered(a, true);
        assertThat(order.mayGo(b)).isTrue();
        assertThat(order.mayGo(c)).as("in order again").isFalse();
    }

    @Test
    void oneThatFailsDoesNotKeepItFromTheOthers() {
        assertThat(order.mayGo(a)).isTrue();
        AcquireSequencer.Sender bad = new AcquireSequencer.Sender() {
            @Override
            public void mayGo() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public void behind() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public void unsent() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public boolean isWanted() {
                return true;
            }
        };
        assertThat(order.mayGo(bad)).isFalse();
        assertThat(order.mayGo(c)).isFalse();
        order.answered(a, true);
        assertThat(told).containsExactly("c is behind");
        order.leave(bad);
        assertThat(told).containsExactly("c is behind", "c goes");
    }

    /** Who is ahead is about to go: nobody knows yet whether the lock is busy for the others. */
    @Test
    void S15_anAnswerThatFindsItFreeIsNoneForTheOthers() {
        allAsk();
        order.answered(a, false);
        assertThat(told).containsExactly("b goes");
        order.answered(b, true);
        assertThat(told).containsExactly("b goes", "c is behind", "c goes");
    }

    @Test
    void S10_whoIsNotWantedAnyMoreIsAnsweredAndGetsNoTurn() {
        allAsk();
        b.wanted = false;
        order.answered(a, false);
        assertThat(told).containsExactly("b is behind", "c goes");
        order.answered(c, true);
        assertThat(order.mayGo(a)).isTrue();
    }

    @Test
    void S10_manyWhoAreNotWantedArePassedOver() {
        assertThat(order.mayGo(a)).isTrue();
        for (int i = 0; i < 100_000; i++) {
            Named left = new Named("left");
            assertThat(order.mayGo(left)).isFalse();
            left.wanted = false;
        }
        assertThat(order.mayGo(b)).isFalse();
        order.answered(a, false);
        assertThat(told).hasSize(100_001).endsWith("left is behind", "b goes");
    }

    /** Nothing passed between it and the store, so it is not "waiting" either. */
    @Test
    void S10_S15_whoIsNotWantedIsNotSentIntoTheSilence() {
        allAsk();
        b.wanted = false;
        order.open();
        assertThat(told).containsExactly("b is not sent", "c goes");
    }
}
