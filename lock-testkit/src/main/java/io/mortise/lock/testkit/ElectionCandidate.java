// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.ElectionListener;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermBody;
import io.mortise.lock.recipe.TermEnd;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A candidate of an election in a test, with its terms and failures. */
final class ElectionCandidate implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final List<Term> terms = new CopyOnWriteArrayList<>();
    private final Map<Term, Long> started = new ConcurrentHashMap<>();
    private final Map<Term, Long> stopped = new ConcurrentHashMap<>();
    private final List<TermEnd> ends = new CopyOnWriteArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final AtomicInteger bodies = new AtomicInteger();
    private final AtomicInteger mostBodies = new AtomicInteger();
    private final Election election;

    private ElectionCandidate(DistributedLock lock, TermBody body) {
        this.election = Election.on(lock)
                .pauseAfterTerm(PAUSE)
                .pauseAfterFailure(PAUSE, PAUSE)
                .listener(new ElectionListener() {
                    @Override
                    public void ended(Term term, TermEnd end) {
                        ends.add(end);
                    }

                    @Override
                    public void failed(Throwable failure) {
                        failures.add(failure);
                    }
                })
                .run(term -> lead(term, body));
    }

    /** Returns a body that ends only by the interrupt of its stop. */
    static TermBody untilStopped() {
        return term -> new CountDownLatch(1).await();
    }

    /** Returns a body whose first call ends only by its stop; later ones return, so that no store's order starves others. */
    static TermBody blockingOnce() {
        CountDownLatch first = new CountDownLatch(1);
        return term -> {
            if (first.getCount() > 0) {
                first.countDown();
                untilStopped().lead(term);
            }
        };
    }

    static ElectionCandidate start(DistributedLock lock) {
        return start(lock, untilStopped());
    }

    static ElectionCandidate start(DistributedLock lock, TermBody body) {
        return new ElectionCandidate(lock, body);
    }

    private void lead(Term term, TermBody body) throws Exception {
        mostBodies.accumulateAndGet(bodies.incrementAndGet(), Math::max);
        try {
            started.put(term, System.nanoTime());
            term.onStop(() -> stopped.put(term, System.nanoTime()));
            terms.add(term);
            body.lead(term);
        } finally {
            bodies.decrementAndGet();
        }
    }

    Election election() {
        return election;
    }

    /** Waits for that term, counted from 1, and returns it. */
    Term awaitTerm(int number, Duration within) throws Exception {
        ContractTestFixture.eventually("term " + number + " of a candidate", within, () -> terms.size() >= number);
        return terms.get(number - 1);
    }

    /** Waits until the stop of the term has been called. */
    void awaitStop(Term term, Duration within) throws Exception {
        ContractTestFixture.eventually("the body is told to stop", within, () -> stopped.containsKey(term));
    }

    /** Returns the nanosecond at which the body of the term began, by {@link System#nanoTime}. */
    long startedAt(Term term) {
        return Objects.requireNonNull(started.get(term), "start of the term");
    }

    /** Returns the nanosecond at which the stop of the term was called, by {@link System#nanoTime}. */
    long stoppedAt(Term term) {
        return Objects.requireNonNull(stopped.get(term), "stop of the term");
    }

    /** Waits for the ends of the first terms, and returns them. */
    List<TermEnd> awaitEnds(int count) throws Exception {
        ContractTestFixture.eventually(
                count + " terms have ended", ContractTestFixture.PROMPT, () -> ends.size() >= count);
        return List.copyOf(ends);
    }

    int terms() {
        return terms.size();
    }

    int runningBodies() {
        return bodies.get();
    }

    /** Returns how many bodies ran at the same time at most. */
    int mostBodies() {
        return mostBodies.get();
    }

    List<Throwable> failures() {
        return List.copyOf(failures);
    }

    @Override
    public void close() {
        election.close();
    }
}
