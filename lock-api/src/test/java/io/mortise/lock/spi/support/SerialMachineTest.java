// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests a machine that counts its events, and whose effect of each event is the event's number after counting. */
class SerialMachineTest {
    private static final int THREADS = 4;

    private record Counted(Integer state, List<Integer> effects) implements SerialMachine.Step<Integer, Integer> {}

    private static SerialMachine<Integer, Integer, Integer> machine(Consumer<Integer> performer) {
        return new SerialMachine<>(0, SerialMachineTest::count, performer, SerialMachineTest::failed);
    }

    /** The failure of an effect above 1,000 leads to an event of a thousandth. */
    private static @Nullable Integer failed(Integer effect, Throwable failure) {
        return effect > 1_000 ? effect / 1_000 : null;
    }

    /** Negative numbers are impossible events; an event of a multiple of ten has a second effect, which is its negative. */
    private static Counted count(Integer state, Integer event) {
        if (event < 0) {
            throw new IllegalStateException("impossible: " + event);
        }
        return new Counted(state + 1, event % 10 == 0 ? List.of(event, -event) : List.of(event));
    }

    @Test
    void effectsArePerformedOnTheThreadThatBringsTheEvent() {
        List<Thread> performedBy = new ArrayList<>();
        machine(effect -> performedBy.add(Thread.currentThread())).accept(1);
        assertThat(performedBy).containsExactly(Thread.currentThread());
    }

    @Test
    void anEventFromAnEffectComesAfterAllEffectsOfThePresentEvent() {
        List<Integer> performed = new ArrayList<>();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            performed.add(effect);
            if (effect == 10) {
                self.get(0).accept(1);
                self.get(0).accept(2);
                assertThat(performed).as("nothing is taken meanwhile").containsExactly(10);
            }
        }));
        self.get(0).accept(10);
        assertThat(performed).containsExactly(10, -10, 1, 2);
    }

    @Test
    void eventsThatBringTheNextDoNotDeepenTheStack() {
        int most = 1_000_001;
        AtomicInteger last = new AtomicInteger();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            last.set(effect);
            if (effect > 0 && effect < most) {
                self.get(0).accept(effect + 1);
            }
        }));
        self.get(0).accept(1);
        assertThat(last).hasValue(most);
    }

    @Test
    void anEventThatComesDuringAnEffectIsTakenByTheThreadThatIsAtWork() throws Exception {
        CountDownLatch performing = new CountDownLatch(1);
        CountDownLatch delivered = new CountDownLatch(1);
        List<Thread> performedBy = new ArrayList<>();
        SerialMachine<Integer, Integer, Integer> machine = machine(effect -> {
            performedBy.add(Thread.currentThread());
            if (effect == 1) {
                performing.countDown();
                await(delivered);
            }
        });
        CompletableFuture<Thread> first = CompletableFuture.supplyAsync(() -> {
            machine.accept(1);
            return Thread.currentThread();
        });
        await(performing);
        machine.accept(2); // returns although the effect of the first event is not over
        delivered.countDown();
        Thread atWork = first.get(60, TimeUnit.SECONDS);
        assertThat(performedBy).containsExactly(atWork, atWork);
    }

    /** A third thread may leave an event in the queue before it counts it. */
    @Test
    void severalThreadsLoseNoEventAndKeepTheOrderOfEach() throws Exception {
        int each = 100_000;
        List<Integer> performed = new ArrayList<>(); // not thread-safe: one thread at a time performs
        SerialMachine<Integer, Integer, Integer> machine = machine(effect -> {
            if (effect > 0) {
                performed.add(effect);
            }
        });
        CyclicBarrier start = new CyclicBarrier(THREADS);
        ExecutorService threads = Executors.newFixedThreadPool(THREADS); // the common pool may have a single thread
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int first = 1 + thread;
                all.add(threads.submit(() -> deliver(machine, start, first, each)));
            }
            for (Future<?> one : all) {
                one.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(performed).hasSize(THREADS * each);
        for (int thread = 0; thread < THREADS; thread++) {
            int rest = (1 + thread) % THREADS;
            assertThat(performed.stream().filter(event -> event % THREADS == rest))
                    .isSorted()
                    .doesNotHaveDuplicates();
        }
    }

    private static void deliver(
            SerialMachine<Integer, Integer, Integer> machine, CyclicBarrier start, int first, int count) {
        try {
            start.await(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        for (int i = 0; i < count; i++) {
            machine.accept(first + THREADS * i);
        }
    }

    @Test
    void whatAnActionAfterwardsBringsIsTakenAtOnce() {
        List<Integer> performed = new ArrayList<>();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            performed.add(effect);
            if (effect == 10) {
                self.get(0).afterwards(() -> {
                    self.get(0).accept(1);
                    assertThat(performed)
                            .as("when accept has returned, after all effects of the first event")
                            .containsExactly(10, -10, 1);
                });
            }
        }));
        self.get(0).accept(10);
        assertThat(performed).containsExactly(10, -10, 1);
    }

    @Test
    void anActionAfterwardsRunsBeforeTheNextEventThatIsWaiting() {
        List<Integer> performed = new ArrayList<>();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            performed.add(effect);
            if (effect == 10) {
                self.get(0).accept(1);
                self.get(0).afterwards(() -> performed.add(99));
            }
        }));
        self.get(0).accept(10);
        assertThat(performed).containsExactly(10, -10, 99, 1);
    }

    @Test
    void anExceptionOfAnActionAfterwardsLosesNeitherActionsNorEvents() {
        List<Integer> performed = new ArrayList<>();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            performed.add(effect);
            if (effect == 10) {
                self.get(0).accept(1);
                self.get(0).afterwards(() -> {
                    throw new IllegalArgumentException("an action");
                });
                self.get(0).afterwards(() -> performed.add(99));
            }
        }));
        assertThatThrownBy(() -> self.get(0).accept(10)).hasMessage("an action");
        assertThat(performed).containsExactly(10, -10, 99, 1);
    }

    @Test
    void anExceptionOfAnEffectLosesNeitherEffectsNorEvents() {
        List<Integer> performed = new ArrayList<>();
        List<SerialMachine<Integer, Integer, Integer>> self = new ArrayList<>();
        self.add(machine(effect -> {
            performed.add(effect);
            if (effect == 10) {
                self.get(0).accept(1);
            }
            if (effect == 10 || effect == 1) {
                throw new IllegalArgumentException("effect " + effect);
            }
        }));
        assertThatThrownBy(() -> self.get(0).accept(10))
                .hasMessage("effect 10")
                .satisfies(failure -> assertThat(failure.getSuppressed()[0]).hasMessage("effect 1"));
        self.get(0).accept(2);
        assertThat(performed).containsExactly(10, -10, 1, 2);
    }

    /** Whether it was an exception or an error: a call of the core waits for the event. */
    @Test
    void theFailureOfAnEffectLeadsToItsEvent() {
        List<Integer> performed = new ArrayList<>();
        SerialMachine<Integer, Integer, Integer> machine = machine(effect -> {
            performed.add(effect);
            if (effect == 2_000) {
                throw new IllegalArgumentException("as planned");
            }
            if (effect == 3_000) {
                throw new StackOverflowError("as planned");
            }
        });
        machine.accept(2_000);
        machine.accept(3_000);
        assertThat(performed).containsExactly(2_000, -2_000, 2, 3_000, -3_000, 3);
    }

    @Test
    void anImpossibleEventIsReportedToItsThreadAndChangesNothing() {
        List<Integer> performed = new ArrayList<>();
        SerialMachine<Integer, Integer, Integer> machine = machine(performed::add);
        assertThatThrownBy(() -> machine.accept(-1)).isInstanceOf(IllegalStateException.class);
        machine.accept(3);
        assertThat(performed).containsExactly(3);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
