// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.redis.node.ContenderRegistry;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockRequest;
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
final class RedlockContender implements Contender, ContenderRegistry.Owner {
    /** How long a place in line stands without being asked for again: more than three times the longest pause. */
    static final Duration PLACE_STANDS = Duration.ofSeconds(20);

    private static final String PLACE_STANDS_MILLIS = String.valueOf(PLACE_STANDS.toMillis());

    /** Woken by too few masters for a majority, it asks all the same a little later. */
    private static final long ALONE_AT_LEAST_NANOS = 5_000_000;

    private static final long ALONE_AT_MOST_NANOS = 20_000_000;

    /** One that was displaced asks for a new place a little later: not in a tight loop with a master that fails each time. */
    private static final long DISPLACED_AT_LEAST_NANOS = 20_000_000;

    private static final long DISPLACED_AT_MOST_NANOS = 100_000_000;

    private final RedlockBackend backend;
    private final LockRequest request;
    private final ContenderListener waiter;
    private final RedlockKeys.OfLock keys;
    private final String record;
    private final List<Part> parts = new ArrayList<>();
    private volatile @Nullable Round last;
    private volatile @Nullable String displaced; // why
    private volatile boolean granted;
    private volatile boolean ended;
    private volatile String place = ""; // not known yet
    private int splits; // one after the other; attempts do not overlap

    @GuardedBy("this")
    private final BitSet wokenBy = new BitSet();

    RedlockContender(RedlockBackend backend, LockRequest request, ContenderListener waiter) {
        this.backend = backend;
        this.request = request;
        this.waiter = waiter;
        this.keys = backend.keys().of(request.name());
        this.record = backend.record(request);
        for (Master master : backend.masters().all()) {
            parts.add(new Part(master, backend.context(), request, keys));
        }
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        String why = displaced;
        if (why != null) {
            leave();
            return CompletableFuture.completedFuture(new AttemptResult.Displaced(why));
        }
        synchronized (this) {
            wokenBy.clear();
        }
        if (request.mayWait() && place.isEmpty()) {
            backend.mailbox().add(request.attemptId(), this); // before it is sent: a message may come with the answer
            place = backend.masters().place().orElse("");
        }
        Round round = new Round(this, parts, backend.masters().quorum());
        last = round;
        return round.start();
    }

    /** The core forgets it: what it may have is settled. */
    private void leave() {
        ended = true;
        backend.mailbox().remove(request.attemptId());
        parts.stream().filter(Part::isTouched).forEach(this::settle);
    }

    /** @param ballot that was won: votes may still come in */
    AttemptResult grant(long token, long validUntil, Ballot ballot) {
        granted = true;
        KeptVotes kept = new KeptVotes(ballot, request.leaseDuration(), validUntil);
        Regain regain = new Regain(this, parts, kept, token);
        return new AttemptResult.Granted(
                token,
                new RedlockKeepAlive(
                        backend.context().clock(),
                        keys,
                        request.attemptId(),
                        request.leaseDuration(),
                        validUntil,
                        regain));
    }

    AttemptResult waiting(Ballot ballot) {
        boolean held = ballot.holder().isPresent();
        splits = held ? 0 : splits + 1;
        double chance = ThreadLocalRandom.current().nextDouble();
        return new AttemptResult.Waiting(
                Pause.before(ballot.votes(), held, backend.masters().quorum(), chance, splits));
    }

    /**
     * This attempt id must not get a grant any more: something of it may yet be executed that would take it away. The next
     * attempt is another's, and comes soon: what this one may have stands in the way of others until then.
     */
    void displace(String why) {
        boolean first = displaced == null;
        displaced = why;
        if (first) {
            wakeWithin(DISPLACED_AT_LEAST_NANOS, DISPLACED_AT_MOST_NANOS, () -> {
                if (!granted && !ended) {
                    waiter.wake();
                }
            });
        }
    }

    private void wakeWithin(long leastNanos, long mostNanos, Runnable wake) {
        long pause = ThreadLocalRandom.current().nextLong(leastNanos, mostNanos);
        backend.context().clock().schedule(Duration.ofNanos(pause), wake);
    }

    boolean isEnded() {
        return ended;
    }

    boolean mayWait() {
        return request.mayWait();
    }

    RedlockKeys.OfLock keys() {
        return keys;
    }

    Duration lease() {
        return request.leaseDuration();
    }

    long nanoTime() {
        return backend.context().clock().nanoTime();
    }

    String what() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    void doubt(Master master, Master.Greeted said) {
        backend.admissions().doubt(master, said);
    }

    void unanswered(Master master, Master.Greeted said, long sentNanos) {
        backend.admissions().unanswered(master, said, sentNanos);
    }

    /** What the script is given, as its head says. */
    String[] acquiring(Part part, Master.Greeted voting, long notAfter) {
        String lease = String.valueOf(request.leaseDuration().toMillis());
        String inLine = part.footprint().mayBeInLine() ? "1" : "0";
        String until = String.valueOf(notAfter);
        return request.mayWait()
                ? new String[] {
                    voting.run(),
                    keys.bucket(),
                    request.attemptId(),
                    record,
                    lease,
                    until,
                    inLine,
                    voting.node().channel(),
                    placeNow(),
                    PLACE_STANDS_MILLIS
                }
                : new String[] {voting.run(), keys.bucket(), request.attemptId(), record, lease, until, inLine};
    }

    /** What the script is given, as its head says. */
    String[] raising(Master.Greeted voting, long token) {
        return new String[] {voting.run(), keys.bucket(), request.attemptId(), String.valueOf(token)};
    }

    /** What the script is given, as its head says. */
    String[] regaining(Master.Greeted voting, long notAfter, long token) {
        return new String[] {
            voting.run(),
            keys.bucket(),
            request.attemptId(),
            String.valueOf(token),
            record,
            String.valueOf(request.leaseDuration().toMillis()),
            String.valueOf(notAfter)
        };
    }

    /** What the script is given, as its head says. */
    String[] yielding(Part part) {
        return new String[] {
            request.attemptId(),
            record,
            String.valueOf(request.leaseDuration().toMillis()),
            part.master().node().channel(),
            placeNow(),
            PLACE_STANDS_MILLIS
        };
    }

    /** A master that has begun to vote since is asked before anybody's clock was: last in line, until it is asked again. */
    private String placeNow() {
        String known = place;
        return known.isEmpty() ? "inf" : known;
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
            wakeWithin(ALONE_AT_LEAST_NANOS, ALONE_AT_MOST_NANOS, this::wakeIfAlone);
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
        ended = true;
        backend.mailbox().remove(request.attemptId());
        return new Withdrawal(this, parts, backend.context(), "release of lock \"" + request.name() + "\"").begin();
    }

    /** A master that does not answer is asked again until it does, or what it may have has ended by itself (S8). */
    void settle(Part part) {
        part.master().leftovers().settle(part, request, backend.context());
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Round won = last;
        return type == RedlockSummary.class && won != null ? Optional.of(type.cast(won.summary())) : Optional.empty();
    }
}
