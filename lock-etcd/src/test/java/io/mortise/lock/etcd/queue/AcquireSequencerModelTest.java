// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.etcd.contender.ModelledSession;
import io.mortise.lock.etcd.contender.ModelledSession.TurnNotification;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests that the explored world gives turns to the same contenders as production's sequencer, on random calls. */
class AcquireSequencerModelTest {
    private static final int SEQUENCES = 3_000;
    private static final int STEPS = 40;
    private static final int SENDERS = 5;

    private final List<String> actual = new ArrayList<>();
    private final List<String> expected = new ArrayList<>();
    private List<TestSender> senders = List.of();
    private AcquireSequencer sequencer = new AcquireSequencer();
    private ModelledSession model = new ModelledSession(1);

    private final class TestSender implements AcquireSequencer.Sender {
        private final int number;
        private boolean needed = true;

        TestSender(int number) {
            this.number = number;
        }

        @Override
        public void sendNow() {
            actual.add(number + " " + TurnNotification.SEND_NOW);
        }

        @Override
        public void lockTaken() {
            actual.add(number + " " + TurnNotification.LOCK_TAKEN);
        }

        @Override
        public void notSent() {
            actual.add(number + " " + TurnNotification.NOT_SENT);
        }

        @Override
        public boolean isStillNeeded() {
            return needed;
        }
    }

    @Test
    void S12_theModelGivesTurnsAsProductionDoes() {
        int notifications = 0;
        for (int seed = 0; seed < SEQUENCES; seed++) {
            Random random = new Random(seed);
            senders = IntStream.range(0, SENDERS).mapToObj(TestSender::new).toList();
            sequencer = new AcquireSequencer();
            model = new ModelledSession(1);
            for (int step = 0; step < STEPS; step++) {
                step(senders.get(random.nextInt(SENDERS)), random);
                assertThat(actual).as("seed %s, step %s", seed, step).containsExactlyInAnyOrderElementsOf(expected);
                assertThat(toSend(actual)).as("seed %s, step %s", seed, step).isEqualTo(toSend(expected));
                notifications += actual.size();
                actual.clear();
                expected.clear();
            }
        }
        assertThat(notifications).isGreaterThan(SEQUENCES);
    }

    private void step(TestSender sender, Random random) {
        switch (random.nextInt(9)) {
            case 0, 1, 2, 3 -> assertThat(model.maySend(sender.number)).isEqualTo(sequencer.maySend(sender));
            case 4, 5 -> {
                boolean isTaken = random.nextBoolean();
                sequencer.onReply(sender, isTaken);
                model.passTurn(sender.number, isTaken, this::isNeeded, this::expect);
            }
            case 6 -> {
                sequencer.remove(sender);
                model.leaveTurns(sender.number, this::isNeeded, this::expect);
            }
            case 7 -> {
                if (random.nextInt(3) == 0) {
                    sequencer.releaseAll();
                    model.releaseTurns(this::isNeeded, this::expect);
                }
            }
            default -> sender.needed &= random.nextInt(3) > 0;
        }
    }

    private static List<String> toSend(List<String> notifications) {
        return notifications.stream()
                .filter(each -> each.endsWith(" " + TurnNotification.SEND_NOW))
                .toList();
    }

    private boolean isNeeded(int number) {
        return senders.get(number).needed;
    }

    private void expect(int number, TurnNotification what) {
        expected.add(number + " " + what);
    }
}
