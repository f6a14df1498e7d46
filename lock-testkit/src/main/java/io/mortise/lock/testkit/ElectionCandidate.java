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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** A candidate of an election in a test, with its terms and failures. */
final class ElectionCandidate implements AutoCloseable {
    private static final Duration PAUSE = Duration.ofMillis(20);

    private final List<Term> terms = new CopyOnWriteArrayList<>();
    private final List<Term> stopped = new CopyOnWriteArrayList<>();
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

    /** Starts a candidate whose body ends only by the interrupt of its stop. */
    static ElectionCandidate start(DistributedLock lock) {
        return start(lock, term -> new CountDownLatch(1).await());
    }

    /** Starts a candidate whose first body ends only by its stop; later ones return, so that no store's order starves others. */
    static ElectionCandidate startBlockingOnce(DistributedLock lock) {
        CountDownLatch first = new CountDownLatch(1);
        return start(lock, term -> {
            if (first.getCount() > 0) {
                first.countDown();
                new CountDownLatch(1).await();
            }
        });
    }

    static ElectionCandidate start(DistributedLock lock, TermBody body) {
        return new ElectionCandidate(lock, body);
    }

    private void lead(Term term, TermBody body) throws Exception {
        mostBodies.accumulateAndGet(bodies.incrementAndGet(), Math::max);
        try {
            term.onStop(() -> stopped.add(term));
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
        ContractTestFixture.eventually("the body is told to stop", within, () -> stopped.contains(term));
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
