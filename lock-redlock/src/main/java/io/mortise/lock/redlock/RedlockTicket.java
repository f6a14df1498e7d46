// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.Mailbox;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * One contender: a vote to win at each master, and while it waits a place in line there. What masters publish are hints: a
 * grant is what a majority says in one {@link Round}.
 */
final class RedlockTicket implements Ticket, Mailbox.Owner {
    /** How long a place in line stands without being asked for again: more than three times the longest pause. */
    static final Duration PLACE_STANDS = Duration.ofSeconds(20);

    static final String PLACE_STANDS_MILLIS = String.valueOf(PLACE_STANDS.toMillis());

    private static final Duration AGAIN = Duration.ofMillis(50);

    /** Woken by too few masters for a majority, it asks all the same a little later. */
    private static final long ALONE_AT_LEAST_NANOS = 5_000_000;

    private static final long ALONE_AT_MOST_NANOS = 20_000_000;

    private final RedlockBackend backend;
    private final LockRequest request;
    private final Waiter waiter;
    private final RedlockKeys.OfLock keys;
    private final List<Part> parts = new ArrayList<>();
    private volatile @Nullable Round last;
    private volatile boolean granted;
    private volatile String place = "";

    @GuardedBy("this")
    private final BitSet wokenBy = new BitSet();

    RedlockTicket(RedlockBackend backend, LockRequest request, Waiter waiter) {
        this.backend = backend;
        this.request = request;
        this.waiter = waiter;
        this.keys = backend.keys().of(request.name());
        for (Master master : backend.masters().all()) {
            parts.add(new Part(master, backend.context(), request, keys));
        }
    }

    @Override
    public CompletionStage<Attempt> attempt() {
        synchronized (this) {
            wokenBy.clear();
        }
        if (request.mayWait() && place.isEmpty()) {
            backend.mailbox().add(request.attemptId(), this); // before it is sent: a message may come with the answer
            place = backend.masters().place();
        }
        Round round = new Round(backend, request, keys, parts, place);
        last = round;
        return round.start().thenApply(attempt -> {
            granted = attempt instanceof Attempt.Granted;
            return attempt;
        });
    }

    /** The lock may be free at that master. On its I/O thread. */
    void hint(int master) {
        int count;
        synchronized (this) {
            if (granted || wokenBy.get(master)) {
                return;
            }
            wokenBy.set(master);
            count = wokenBy.cardinality();
        }
        if (count == backend.masters().quorum().majority()) {
            waiter.wake();
        } else if (count == 1) {
            long pause = ThreadLocalRandom.current().nextLong(ALONE_AT_LEAST_NANOS, ALONE_AT_MOST_NANOS);
            backend.context().clock().schedule(Duration.ofNanos(pause), this::wakeIfAlone);
        }
    }

    private void wakeIfAlone() {
        boolean alone;
        synchronized (this) {
            int count = wokenBy.cardinality();
            alone = count > 0 && count < backend.masters().quorum().majority();
        }
        if (alone && !granted) {
            waiter.wake();
        }
    }

    /** Its places in line may be gone. */
    boolean isWaiting() {
        return !granted && request.mayWait();
    }

    /** It may be its turn, or a message may have been lost. */
    @Override
    public void wake() {
        waiter.wake();
    }

    @Override
    public CompletionStage<Boolean> end() {
        backend.mailbox().remove(request.attemptId());
        CompletableFuture<Boolean> ended = new CompletableFuture<>();
        Poll poll = new Poll(backend.masters().quorum());
        long patience = backend.context().clock().nanoTime()
                + backend.context().requestTimeout().toNanos()
                - parts.get(0).master().node().requestTimeout().toNanos();
        for (Part part : parts) {
            if (part.isTouched()) {
                end(part, poll, ended, patience, Poll.Answer.NO);
            } else {
                answered(poll, Poll.Answer.NO, ended);
            }
        }
        return ended;
    }

    /**
     * While no majority has answered, one that has not is asked again: there is more time than one master gets.
     *
     * @param gone what it means if nothing is there: asked again, it may be our own doing
     */
    private void end(Part part, Poll poll, CompletableFuture<Boolean> ended, long patience, Poll.Answer gone) {
        part.removal().end(found -> answered(poll, found.held() ? Poll.Answer.YES : gone, ended), failure -> {
            if (ended.isDone() || backend.context().clock().nanoTime() - patience >= 0) {
                settle(part);
                answered(poll, Poll.Answer.NONE, ended);
            } else {
                backend.context().clock().schedule(AGAIN, () -> end(part, poll, ended, patience, Poll.Answer.NONE));
            }
        });
    }

    private void answered(Poll poll, Poll.Answer answer, CompletableFuture<Boolean> ended) {
        switch (poll.answer(answer)) {
            case OPEN -> {}
            case CARRIED -> ended.complete(true);
            case REFUSED -> ended.complete(false);
            case UNDECIDED -> {
                if (poll.yes() + poll.no() >= backend.masters().quorum().majority()) {
                    ended.complete(poll.yes() > 0);
                } else {
                    ended.completeExceptionally(new BackendUnavailableException(
                            "release of lock \"" + request.name() + "\": no quorum: " + (poll.yes() + poll.no())
                                    + " of " + parts.size() + " masters answered at " + backend.endpoints()));
                }
            }
        }
    }

    /** A master that does not answer is asked again until it does, or what it may have has ended by itself (S8). */
    private void settle(Part part) {
        if (part.beginSettling()) {
            Duration late = part.master().node().requestTimeout().multipliedBy(2);
            Duration within = request.leaseDuration().compareTo(late) > 0 ? request.leaseDuration() : late;
            backend.context()
                    .settle(
                            "what lock \"" + request.name().escaped() + "\" may have at "
                                    + part.master().endpoint(),
                            () -> {
                                CompletableFuture<Boolean> settled = new CompletableFuture<>();
                                part.removal().end(found -> settled.complete(true), settled::completeExceptionally);
                                return settled;
                            },
                            backend.context().clock().nanoTime() + within.toNanos());
        }
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Round won = last;
        return type == RedlockSummary.class && won != null ? Optional.of(type.cast(won.summary())) : Optional.empty();
    }
}
