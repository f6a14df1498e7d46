// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockListener;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.ElectionListener;
import io.mortise.lock.recipe.ElectionOptions;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermBody;
import io.mortise.lock.recipe.TermEnd;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the campaign of an {@link Election}: its terms, their ends, its failures and its close. */
class ElectionTest {
    private static final ClientOptions DIRECT = ClientOptions.defaults().callbackExecutor(Runnable::run);
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Duration SHORT = Duration.ofMillis(5);

    private final ManualClock clock = new ManualClock();
    private final MemoryStore store = MemoryStore.create(clock);
    private final LockClient client = MemoryLocks.connect(store, DIRECT);
    private final LockClient other = MemoryLocks.connect(store, DIRECT);
    private final Queue<Runnable> callbacks = new ConcurrentLinkedQueue<>();
    private final LockClient busy =
            MemoryLocks.connect(store, ClientOptions.defaults().callbackExecutor(callbacks::add));
    private final List<Election> elections = new ArrayList<>();
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        store.faults().heal();
        elections.forEach(Election::close);
        client.close();
        other.close();
        busy.close();
    }

    /** A body that has resigned may still rely on the lock, which is released only after it. */
    @Test
    void S07_aLossInterruptsABodyThatHasResigned() throws Exception {
        CountDownLatch resigned = new CountDownLatch(1);
        CountDownLatch finished = new CountDownLatch(1);
        start(client, term -> {
            term.resign();
            resigned.countDown();
            finished.await();
        });
        elected();
        resigned.await();
        store.faults().expire("x");
        clock.advance(Duration.ofSeconds(31));
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        finished.countDown();
    }

    @Test
    void aCloseInterruptsABodyThatHasResigned() throws Exception {
        CountDownLatch resigned = new CountDownLatch(1);
        Election election = start(client, term -> {
            term.resign();
            resigned.countDown();
            untilStopped().lead(term);
        });
        elected();
        resigned.await();
        election.closeAsync();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
    }

    /** It may be at work on what it does last. */
    @Test
    void aCloseInterruptsABodyOnlyOnce() throws Exception {
        AtomicInteger threads = new AtomicInteger();
        CountDownLatch stopped = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Election election = options(client, events)
                .threads(task -> {
                    threads.incrementAndGet();
                    return new Thread(task);
                })
                .run(term -> {
                    assertThatThrownBy(() -> untilStopped().lead(term)).isInstanceOf(InterruptedException.class);
                    stopped.countDown();
                    release.await();
                });
        elections.add(election);
        elected();
        election.resign();
        stopped.await();
        election.closeAsync();
        assertThat(threads).as("none for an interrupt").hasValue(1);
        release.countDown();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
    }

    @Test
    void S03_theEpochIncreasesFromTermToTerm() throws Exception {
        start(client, untilStopped());
        Term first = elected();
        first.resign();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        Term second = elected();
        assertThat(second.epoch()).isGreaterThan(first.epoch());
        assertThat(first.isOver()).isTrue();
        assertThat(second.isOver()).isFalse();
    }

    @Test
    void S07_aLossStopsTheBodyBeforeAnotherCandidateCanLead() throws Exception {
        AtomicBoolean stopped = new AtomicBoolean();
        BlockingQueue<Term> terms = new LinkedBlockingQueue<>();
        CountDownLatch release = new CountDownLatch(1);
        Election election = start(client, term -> {
            term.onStop(() -> stopped.set(true));
            terms.add(term);
            awaitIgnoringInterrupts(release); // a long blocking call
        });
        Term term = elected();
        assertThat(terms.poll(30, TimeUnit.SECONDS)).isSameAs(term);
        store.faults().freeze();
        clock.advance(Duration.ofSeconds(31));
        assertThat(term.isOver()).isTrue();
        await(stopped::get);
        assertThat(election.isLeading()).isFalse();
        assertThatThrownBy(term::ensureHeld).isInstanceOf(LeaseLostException.class);
        store.faults().heal();
        try (Lease next = other.named("x").acquire()) {
            assertThat(next.fencingToken()).isGreaterThan(term.epoch());
            assertThat(events).as("no second body beside the first").isEmpty();
            release.countDown();
            assertThat(next()).isEqualTo(TermEnd.LOST);
        }
        assertThat(elected().epoch()).as("the campaign goes on").isGreaterThan(term.epoch());
    }

    @Test
    void S02_afterAPauseTheTermIsOverBeforeAnyCallback() throws Exception {
        start(client, untilStopped());
        Term term = elected();
        clock.advanceWithoutTimers(Duration.ofSeconds(31));
        assertThat(term.isOver()).isTrue();
        clock.advanceThenRunTimers(Duration.ZERO);
        assertThat(next()).isEqualTo(TermEnd.LOST);
    }

    @Test
    void S05_theLockIsReleasedOnlyAfterAResignedBodyHasEnded() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Election election = start(client, term -> awaitIgnoringInterrupts(release));
        elected();
        election.resign();
        election.resign();
        assertThat(election.isLeading()).isFalse();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        release.countDown();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
    }

    @Test
    void resigningLetsAnotherCandidateLead() throws Exception {
        Election election = start(client, untilStopped());
        elected();
        BlockingQueue<Object> otherEvents = new LinkedBlockingQueue<>();
        elections.add(options(other, otherEvents).run(untilStopped()));
        awaitWaiter();
        election.resign();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        assertThat(otherEvents.poll(30, TimeUnit.SECONDS)).isInstanceOf(Term.class);
        assertThat(election.isLeading()).isFalse();
    }

    @Test
    void twoElectionsOfOneClientExcludeEachOther() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        TermBody body = term -> {
            assertThat(bodies.incrementAndGet()).isEqualTo(1);
            bodies.decrementAndGet();
        };
        start(client, body);
        start(client, body);
        int returned = 0;
        while (returned < 20) {
            Object event = next();
            assertThat(event).isNotInstanceOf(Throwable.class);
            returned += event == TermEnd.RETURNED ? 1 : 0;
        }
    }

    @Test
    void failuresOfTheBodyAreReportedAndTheCampaignGoesOn() throws Exception {
        List<Throwable> failures =
                List.of(new IllegalStateException("a"), new AssertionError("b"), new OutOfMemoryError("c"));
        AtomicInteger terms = new AtomicInteger();
        start(client, term -> {
            int index = terms.getAndIncrement();
            if (index < failures.size()) {
                if (failures.get(index) instanceof Error error) {
                    throw error;
                }
                throw (Exception) failures.get(index);
            }
            untilStopped().lead(term);
        });
        for (Throwable failure : failures) {
            elected();
            assertThat(next()).isEqualTo(TermEnd.FAILED);
            assertThat(next()).isSameAs(failure);
        }
        elected();
    }

    @Test
    void anInterruptOfABodyThatWasNotStoppedIsAFailure() throws Exception {
        start(client, term -> {
            throw new InterruptedException("own");
        });
        elected();
        assertThat(next()).isEqualTo(TermEnd.FAILED);
        assertThat(next()).isInstanceOf(InterruptedException.class);
    }

    @Test
    void S15_anOutageIsReportedAndTriedAgain() throws Exception {
        store.faults().refuse();
        start(client, untilStopped());
        awaitTimerAndAdvance(); // an unbounded wait fails after one lease duration
        assertThat(next()).isInstanceOf(BackendUnavailableException.class);
        store.faults().heal();
        Object event;
        do {
            awaitTimerAndAdvance(); // an attempt that began before the healing waits for its retry
            event = next();
        } while (event instanceof BackendUnavailableException);
        assertThat(event).isInstanceOf(Term.class);
    }

    @Test
    void S16_aClosedClientEndsTheCampaign() throws Exception {
        Election election = start(client, untilStopped());
        Term term = elected();
        client.close();
        assertThat(term.isOver()).isTrue();
        assertThat(next()).isEqualTo(TermEnd.LOST);
        election.close();
        assertThat(election.isRunning()).isFalse();
        assertThat(events).isEmpty();
    }

    @Test
    void closeStopsTheBodyAndReleasesTheLock() throws Exception {
        Election election = start(client, untilStopped());
        elected();
        election.close();
        election.close();
        assertThat(next()).isEqualTo(TermEnd.CLOSED);
        assertThat(other.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
        assertThat(events).isEmpty();
    }

    @Test
    void S10_closeEndsAWaitAndLeavesNoWaiter() throws Exception {
        try (Lease held = other.named("x").acquire()) {
            Election election = start(client, untilStopped());
            awaitWaiter();
            election.close();
            assertThat(other.named("x").status().join().waiters()).isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(events).isEmpty();
    }

    @Test
    void closeInsideTheBodyEndsTheCampaignWithoutWaiting() throws Exception {
        BlockingQueue<Election> self = new LinkedBlockingQueue<>();
        Election election = start(client, term -> self.take().close());
        elected();
        self.add(election);
        assertThat(next()).isEqualTo(TermEnd.CLOSED);
        election.close();
        assertThat(other.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @Test
    void closeIsBoundedIfTheBodyIgnoresItsStopAndTheLockIsKept() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Election election = options(client, events)
                .stopTimeout(Duration.ofMillis(20))
                .run(term -> awaitIgnoringInterrupts(release));
        elections.add(election);
        elected();
        election.close();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        release.countDown();
        assertThat(next()).isEqualTo(TermEnd.CLOSED);
    }

    @Test
    void stopCallbacksRunOnceAndAtOnceIfTheTermIsOver() throws Exception {
        BlockingQueue<String> called = new LinkedBlockingQueue<>();
        CountDownLatch release = new CountDownLatch(1);
        start(client, term -> awaitIgnoringInterrupts(release));
        Term term = elected();
        term.onStop(() -> called.add("early on " + Thread.currentThread().getName()));
        term.onStop(() -> {
            throw new LockListenerTest.UnprintableException();
        });
        term.onStop(() -> called.add("last"));
        term.resign();
        assertThat(called.poll(30, TimeUnit.SECONDS)).isEqualTo("early on election-x-stop");
        assertThat(called.poll(30, TimeUnit.SECONDS)).isEqualTo("last");
        term.onStop(() -> called.add("late"));
        term.resign();
        assertThat(called).containsExactly("late");
        release.countDown();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        term.onStop(() -> called.add("after the body"));
        assertThat(called).hasSize(1);
    }

    /** A callback that ran later could end the work of the next term. */
    @Test
    void S05_theLockIsReleasedOnlyAfterTheCallbacksOfTheStop() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        BlockingQueue<Thread> bodies = new LinkedBlockingQueue<>();
        Election election = start(client, term -> {
            bodies.add(Thread.currentThread());
            untilStopped().lead(term);
        });
        Term term = elected();
        Thread body = bodies.take();
        term.onStop(() -> {
            running.countDown();
            awaitIgnoringInterrupts(finish);
        });
        election.resign();
        await(() -> running.getCount() == 0 && isWaitingFor(body, "end"));
        assertThat(events).isEmpty();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        assertThat(election.isLeading()).isFalse();
        finish.countDown();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        assertThat(elected().isOver()).isFalse();
    }

    @Test
    void aCallbackThatBlocksDelaysNeitherAResignationNorACloseBeyondItsLimit() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        Election election =
                options(client, events).stopTimeout(Duration.ofMillis(20)).run(untilStopped());
        elections.add(election);
        Term term = elected();
        term.onStop(() -> awaitIgnoringInterrupts(finish));
        term.resign();
        election.close();
        CompletableFuture<?> ended = election.closeAsync();
        assertThat(ended).isNotDone();
        assertThat(other.named("x").tryAcquire()).isEmpty();
        finish.countDown();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        ended.get(30, TimeUnit.SECONDS);
        assertThat(other.named("x").tryAcquire()).hasValueSatisfying(Lease::close);
    }

    @Test
    void aFactoryThatMakesOneThreadLeavesTheCallbacksToTheThreadThatStops() throws Exception {
        AtomicBoolean made = new AtomicBoolean();
        BlockingQueue<Thread> called = new LinkedBlockingQueue<>();
        Election election = options(client, events)
                .threads(task -> {
                    assertThat(made.getAndSet(true)).as("second thread").isFalse();
                    return new Thread(task);
                })
                .run(untilStopped());
        elections.add(election);
        elected().onStop(() -> called.add(Thread.currentThread()));
        election.close();
        assertThat(called).containsExactly(Thread.currentThread());
        assertThat(next()).isEqualTo(TermEnd.CLOSED);
    }

    /** As an interruptible channel of the application may do. */
    @Test
    void S07_aStopWhoseInterruptThrowsRunsItsCallbacks() throws Exception {
        AtomicBoolean thrown = new AtomicBoolean();
        CountDownLatch registered = new CountDownLatch(1);
        CountDownLatch stop = new CountDownLatch(1);
        elections.add(options(client, events)
                .threads(task -> new Thread(task) {
                    @Override
                    public void interrupt() {
                        if (!thrown.getAndSet(true)) {
                            throw new IllegalStateException("the channel cannot be closed");
                        }
                        super.interrupt();
                    }
                })
                .run(term -> {
                    term.onStop(stop::countDown);
                    registered.countDown();
                    stop.await();
                }));
        Term term = elected();
        registered.await();
        assertThatThrownBy(term::resign).hasMessageContaining("the channel");
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
    }

    /** The callback executor is busy when the lease is lost; the body finds out by itself. */
    @Test
    void S07_aStopThatComesLateDoesNotMeetTheNextTerm() throws Exception {
        BlockingQueue<String> called = new LinkedBlockingQueue<>();
        CountDownLatch noticed = new CountDownLatch(1);
        AtomicInteger terms = new AtomicInteger();
        start(busy, term -> {
            int number = terms.incrementAndGet();
            term.onStop(() -> called.add("stop of term " + number));
            if (number == 1) {
                noticed.await();
            } else {
                untilStopped().lead(term);
            }
        });
        Term first = elected();
        store.faults().expire("x");
        clock.advance(Duration.ofSeconds(31));
        assertThat(first.isOver()).isTrue();
        noticed.countDown();
        assertThat(next()).isEqualTo(TermEnd.LOST);
        Term second = elected();
        await(() -> terms.get() == 2);
        assertThat(callbacks).as("the stop of the first term").isNotEmpty();
        while (!callbacks.isEmpty()) {
            callbacks.remove().run();
        }
        assertThat(second.isOver()).isFalse();
        second.resign();
        assertThat(next()).isEqualTo(TermEnd.RESIGNED);
        assertThat(called).containsExactly("stop of term 2");
    }

    @Test
    void closeAsyncReturnsAtOnceAndCompletesAfterTheRelease() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        Election election = start(client, term -> awaitIgnoringInterrupts(release));
        elected();
        CompletableFuture<?> ended = election.closeAsync();
        assertThat(election.isRunning()).isFalse();
        assertThat(ended).isNotDone();
        assertThat(ended.cancel(true)).as("of a future of one's own").isTrue();
        CompletableFuture<Optional<Lease>> free =
                election.closeAsync().thenCompose(nothing -> other.named("x").tryAcquireAsync(Duration.ZERO));
        release.countDown();
        assertThat(next()).isEqualTo(TermEnd.CLOSED);
        assertThat(free.get(30, TimeUnit.SECONDS)).hasValueSatisfying(Lease::close);
        assertThat(election.closeAsync()).isDone();
    }

    @Test
    void theListenersOfTheClientFollowTheCampaign() throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        BlockingQueue<BooleanSupplier> leading = new LinkedBlockingQueue<>();
        LockListener listener = new LockListener() {
            @Override
            public @Nullable AcquireObserver acquireStarted(String backend, String lockName) {
                return null;
            }

            @Override
            public ElectionObserver electionStarted(String backend, String lockName, BooleanSupplier leads) {
                seen.add("started on " + lockName + " in " + backend);
                leading.add(leads);
                return new ElectionObserver() {
                    @Override
                    public void elected() {
                        seen.add("elected");
                        throw new AssertionError("of an observer");
                    }

                    @Override
                    public void ended() {
                        seen.add("ended");
                    }
                };
            }
        };
        ClientOptions observed = DIRECT.listener((backend, lockName) -> null).listener(listener);
        try (LockClient observedClient = MemoryLocks.connect(store, observed)) {
            Election election = start(observedClient, untilStopped());
            BooleanSupplier leads = leading.take();
            elected();
            assertThat(leads.getAsBoolean()).isTrue();
            clock.advanceWithoutTimers(Duration.ofSeconds(31));
            assertThat(leads.getAsBoolean()).as("S02: without any callback").isFalse();
            clock.advanceThenRunTimers(Duration.ZERO);
            assertThat(next()).isEqualTo(TermEnd.LOST);
            elected();
            election.close();
            assertThat(leads.getAsBoolean()).isFalse();
            assertThat(seen).containsExactly("started on x in memory", "elected", "elected", "ended");
        }
    }

    @Test
    void leaderIsTheHolderThatTheStoreShows() throws Exception {
        Election election = start(client, untilStopped());
        Term term = elected();
        assertThat(election.leader().join())
                .hasValueSatisfying(leader -> assertThat(leader.token()).hasValue(term.epoch()));
        election.close();
        assertThat(election.leader().join()).isEmpty();
    }

    @Test
    void aListenerThatThrowsChangesNothing() throws Exception {
        CountDownLatch ran = new CountDownLatch(2);
        elections.add(Election.on(client.named("x"))
                .pauseAfterTerm(SHORT)
                .listener(new ElectionListener() {
                    @Override
                    public void elected(Term term) {
                        throw new LockListenerTest.UnprintableException();
                    }
                })
                .run(term -> ran.countDown()));
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void S14_badOptionsAreRefusedWithValueAndLimit() {
        ElectionOptions options = Election.on(client.named("x"));
        assertThatThrownBy(() -> options.pauseAfterTerm(Duration.ZERO)).hasMessageContaining("pauseAfterTerm is PT0S");
        assertThatThrownBy(() -> options.stopTimeout(Duration.ofSeconds(-1)))
                .hasMessageContaining("stopTimeout is PT-1S");
        assertThatThrownBy(() -> options.pauseAfterFailure(LONG, SHORT))
                .hasMessageContaining("longest is PT0.005S")
                .hasMessageContaining("PT30S");
    }

    /** The loss comes before the body, when nothing waits that an interrupt could end. */
    @Test
    void S07_aLeaseThatIsLostBeforeTheBodyStopsIt() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        ElectionListener losing = new ElectionListener() {
            @Override
            public void elected(Term term) {
                if (first.getAndSet(false)) {
                    store.faults().expire("x");
                    clock.advance(Duration.ofSeconds(31));
                    assertThat(term.isOver()).isTrue();
                }
            }
        };
        elections.add(options(client, events).listener(losing).run(untilStopped()));
        elected();
        assertThat(next()).isEqualTo(TermEnd.LOST);
        assertThat(elected().isOver()).isFalse();
    }

    @Test
    void S02_aLeaseThatAPauseHasEndedBeginsNoTerm() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        DistributedLock lock = client.named("x");
        start(acquiring(lock, () -> {
            Lease lease = lock.acquire();
            if (first.getAndSet(false)) {
                clock.advanceWithoutTimers(Duration.ofSeconds(31));
            }
            return lease;
        }));
        assertThat(elected().isOver()).isFalse();
        assertThat(first).isFalse();
    }

    @Test
    void S15_aRefusedRequestIsReportedAndTriedAgain() throws Exception {
        AtomicBoolean first = new AtomicBoolean(true);
        DistributedLock lock = client.named("x");
        start(acquiring(lock, () -> {
            if (first.getAndSet(false)) {
                throw new BackendRefusedException("no permission", null);
            }
            return lock.acquire();
        }));
        assertThat(next()).isInstanceOf(BackendRefusedException.class);
        elected();
    }

    /** The pauses double until a term ends without a failure. */
    @Test
    void S15_anInterruptedWaitDoesNotShortenTheNextPauses() throws Exception {
        Duration pause = Duration.ofMillis(20);
        AtomicInteger waits = new AtomicInteger();
        DistributedLock failing = acquiring(client.named("x"), () -> {
            if (waits.getAndIncrement() % 2 == 1) {
                throw new InterruptedException("by the application");
            }
            throw new BackendRefusedException("no permission", null);
        });
        long start = System.nanoTime();
        elections.add(options(failing, events).pauseAfterFailure(pause, LONG).run(untilStopped()));
        for (int failures = 0; failures < 5; failures++) {
            assertThat(next()).isInstanceOf(BackendRefusedException.class);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start))
                .as("four pauses")
                .isGreaterThanOrEqualTo(pause.multipliedBy(1 + 2 + 4 + 8));
    }

    @Test
    void S10_anInterruptByTheApplicationDoesNotEndTheCampaign() throws Exception {
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        try (Lease held = other.named("x").acquire()) {
            elections.add(options(client, events)
                    .threads(task -> {
                        Thread thread = new Thread(task);
                        threads.add(thread);
                        return thread;
                    })
                    .run(untilStopped()));
            awaitWaiter();
            Thread thread = threads.take();
            assertThat(thread.getName()).isEqualTo("election-x");
            thread.interrupt();
            assertThat(held.isHeld()).isTrue();
        }
        elected();
    }

    private void start(DistributedLock lock) {
        elections.add(options(lock, events).run(untilStopped()));
    }

    /** Returns the lock with another {@code acquire()}. */
    private static DistributedLock acquiring(DistributedLock lock, Callable<Lease> acquire) {
        return (DistributedLock) Proxy.newProxyInstance(
                DistributedLock.class.getClassLoader(),
                new Class<?>[] {DistributedLock.class},
                (proxy, method, arguments) ->
                        method.getName().equals("acquire") ? acquire.call() : method.invoke(lock, arguments));
    }

    private Election start(LockClient of, TermBody body) {
        Election election = options(of, events).run(body);
        elections.add(election);
        return election;
    }

    private static ElectionOptions options(LockClient of, BlockingQueue<Object> events) {
        return options(of.named("x"), events);
    }

    private static ElectionOptions options(DistributedLock lock, BlockingQueue<Object> events) {
        return Election.on(lock)
                .pauseAfterTerm(SHORT)
                .pauseAfterFailure(SHORT, SHORT)
                .listener(new ElectionListener() {
                    @Override
                    public void elected(Term term) {
                        events.add(term);
                    }

                    @Override
                    public void ended(Term term, TermEnd end) {
                        events.add(end);
                    }

                    @Override
                    public void failed(Throwable failure) {
                        events.add(failure);
                    }
                });
    }

    /** A body that ends only by the interrupt of its stop. */
    private static TermBody untilStopped() {
        return term -> new CountDownLatch(1).await();
    }

    private static void awaitIgnoringInterrupts(CountDownLatch latch) {
        boolean done = false;
        while (!done) {
            try {
                latch.await();
                done = true;
            } catch (InterruptedException e) {
                Thread.interrupted(); // that is the point
            }
        }
    }

    private Term elected() throws InterruptedException {
        Object event = next();
        assertThat(event).isInstanceOf(Term.class);
        return (Term) event;
    }

    private Object next() throws InterruptedException {
        @Nullable Object event = events.poll(LONG.toSeconds(), TimeUnit.SECONDS);
        assertThat(event).as("an event of the election").isNotNull();
        return event;
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    private static boolean isWaitingFor(Thread thread, String method) {
        return thread.getState() == Thread.State.WAITING
                && Stream.of(thread.getStackTrace())
                        .anyMatch(frame -> frame.getMethodName().equals(method)
                                && frame.getClassName().equals(Term.class.getName()));
    }

    private void awaitWaiter() {
        DistributedLock lock = other.named("x");
        while (lock.status().join().waiters().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    private void awaitTimerAndAdvance() {
        while (events.isEmpty()) {
            clock.advance(Duration.ofMillis(500));
        }
    }
}
