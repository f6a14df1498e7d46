// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class AcquireSequencerTest {
    private final AcquireSequencer sequencer = new AcquireSequencer();
    private final List<String> events = new ArrayList<>();

    private final class NamedSender implements AcquireSequencer.Sender {
        private final String name;
        private boolean needed = true;

        NamedSender(String name) {
            this.name = name;
        }

        @Override
        public void sendNow() {
            events.add(name + " sends");
        }

        @Override
        public void lockTaken() {
            events.add(name + " lock taken");
            removeIfNotNeeded();
        }

        @Override
        public void notSent() {
            events.add(name + " not sent");
            removeIfNotNeeded();
        }

        /** Removes the sender as the core does, once its attempt has a result. */
        private void removeIfNotNeeded() {
            if (!needed) {
                sequencer.remove(this);
            }
        }

        @Override
        public boolean isStillNeeded() {
            return needed;
        }
    }

    private final NamedSender a = new NamedSender("a");
    private final NamedSender b = new NamedSender("b");
    private final NamedSender c = new NamedSender("c");

    private void allRequestToSend() {
        assertThat(sequencer.maySend(a)).isTrue();
        assertThat(sequencer.maySend(b)).isFalse();
        assertThat(sequencer.maySend(c)).isFalse();
    }

    @Test
    void S12_sendersSendOneAtATimeInOrder() {
        allRequestToSend();
        sequencer.onReply(a, true);
        assertThat(events).containsExactly("b lock taken", "c lock taken", "b sends");
        assertThat(sequencer.maySend(b)).as("its turn has not ended").isTrue();
        sequencer.onReply(b, true);
        assertThat(events).containsExactly("b lock taken", "c lock taken", "b sends", "c sends");
        sequencer.onReply(c, true);
        assertThat(sequencer.maySend(a)).isTrue();
    }

    @Test
    void S09_aWaitingSenderIsNotifiedOnceForEachOfItsRequests() {
        allRequestToSend();
        sequencer.onReply(a, true);
        events.clear();
        assertThat(sequencer.maySend(c)).isFalse();
        sequencer.onReply(a, true);
        sequencer.onReply(a, true);
        assertThat(events).containsExactly("c lock taken");
    }

    @Test
    void aSenderThatAsksAgainKeepsItsPosition() {
        allRequestToSend();
        assertThat(sequencer.maySend(b)).isFalse();
        sequencer.onReply(a, true);
        assertThat(events).containsExactly("b lock taken", "c lock taken", "b sends");
    }

    @Test
    void S10_aSenderThatIsRemovedPassesItsTurnOn() {
        allRequestToSend();
        sequencer.onReply(a, true);
        events.clear();
        sequencer.remove(b);
        sequencer.remove(b);
        assertThat(events).containsExactly("c sends");
        sequencer.remove(c);
        assertThat(sequencer.maySend(a)).isTrue();
    }

    @Test
    void S10_aSenderThatLeftTheQueueIsNotNotified() {
        allRequestToSend();
        sequencer.remove(b);
        sequencer.onReply(a, true);
        assertThat(events).containsExactly("c lock taken", "c sends");
    }

    @Test
    void S17_noSenderIsKeptAfterTheEndOfTheSession() {
        allRequestToSend();
        sequencer.end();
        sequencer.onReply(a, true);
        assertThat(events).isEmpty();
        assertThat(sequencer.maySend(c)).isTrue();
    }

    @Test
    void S15_whileTheStoreDoesNotRespondNoSenderWaitsForAnother() {
        allRequestToSend();
        sequencer.releaseAll();
        assertThat(events).containsExactly("b sends", "c sends");
        assertThat(sequencer.maySend(a)).isTrue();
        assertThat(sequencer.maySend(b)).isTrue();
        sequencer.onReply(a, true);
        assertThat(sequencer.maySend(b)).isTrue();
        assertThat(sequencer.maySend(c)).as("in order again").isFalse();
    }

    @Test
    void aFailingSenderDoesNotBlockTheOthers() {
        assertThat(sequencer.maySend(a)).isTrue();
        AcquireSequencer.Sender bad = new AcquireSequencer.Sender() {
            @Override
            public void sendNow() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public void lockTaken() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public void notSent() {
                throw new IllegalStateException("as planned");
            }

            @Override
            public boolean isStillNeeded() {
                return true;
            }
        };
        assertThat(sequencer.maySend(bad)).isFalse();
        assertThat(sequencer.maySend(c)).isFalse();
        sequencer.onReply(a, true);
        assertThat(events).containsExactly("c lock taken");
        sequencer.remove(bad);
        assertThat(events).containsExactly("c lock taken", "c sends");
    }

    /** The contender ahead is about to leave: it is not known yet whether the lock is busy for the others. */
    @Test
    void S15_aReplyThatFindsTheLockFreeDoesNotNotifyTheOthers() {
        allRequestToSend();
        sequencer.onReply(a, false);
        assertThat(events).containsExactly("b sends");
        sequencer.onReply(b, true);
        assertThat(events).containsExactly("b sends", "c lock taken", "c sends");
    }

    @Test
    void S10_aSenderThatIsNoLongerNeededIsNotifiedAndGetsNoTurn() {
        allRequestToSend();
        b.needed = false;
        sequencer.onReply(a, false);
        assertThat(events).containsExactly("b lock taken", "c sends");
        sequencer.onReply(c, true);
        assertThat(sequencer.maySend(a)).isTrue();
    }

    @Test
    void S10_manySendersThatAreNotNeededAreSkipped() {
        assertThat(sequencer.maySend(a)).isTrue();
        for (int i = 0; i < 100_000; i++) {
            NamedSender cancelled = new NamedSender("cancelled");
            assertThat(sequencer.maySend(cancelled)).isFalse();
            cancelled.needed = false;
        }
        assertThat(sequencer.maySend(b)).isFalse();
        sequencer.onReply(a, false);
        assertThat(events).hasSize(100_001).endsWith("cancelled lock taken", "b sends");
    }

    /** No message passed between the sender and the store, so the result is not "waiting" either. */
    @Test
    void S10_S15_whileTheStoreDoesNotRespondAnUnneededRequestIsNotSent() {
        allRequestToSend();
        b.needed = false;
        sequencer.releaseAll();
        assertThat(events).containsExactly("b not sent", "c sends");
    }
}
