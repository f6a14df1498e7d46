// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.vote.RedlockRetryPolicy;
import io.mortise.lock.redlock.vote.VoteRecoveryPolicy;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
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
 * One contender: it asks all masters for their votes, and has a queue entry at each while it waits. Messages of masters are hints:
 * only an {@link AcquireRound} that a majority wins makes a grant.
 */
public final class RedlockContender implements Contender, ContenderRegistry.Owner {
    /** How long a queue entry lasts unless the contender asks again: more than three times the longest retry delay. */
    static final Duration QUEUE_ENTRY_TTL = Duration.ofSeconds(20);

    private static final String QUEUE_ENTRY_TTL_MILLIS = String.valueOf(QUEUE_ENTRY_TTL.toMillis());

    /** Position of an entry at a master that began to vote before any clock was known: last, until the contender asks again. */
    private static final String LAST_IN_QUEUE = "inf";

    /** Delay after which hints of fewer masters than a majority wake the contender. */
    private static final Duration MIN_MINORITY_HINT_DELAY = Duration.ofMillis(5);

    private static final Duration MAX_MINORITY_HINT_DELAY = Duration.ofMillis(20);

    /** Delay before a displaced contender asks with a new attempt id: no tight loop with a master that fails each time. */
    private static final Duration MIN_DISPLACED_DELAY = Duration.ofMillis(20);

    private static final Duration MAX_DISPLACED_DELAY = Duration.ofMillis(100);

    private final ContenderEnvironment environment;
    private final LockRequest request;
    private final ContenderListener listener;
    private final RedlockKeys.LockKeys keys;
    private final String ownerRecord;
    private final List<AttemptAtMaster> parts = new ArrayList<>();
    private volatile @Nullable AcquireRound lastRound;
    private volatile @Nullable String displacedReason;
    private volatile boolean granted;
    private volatile boolean ended;
    private volatile String queuePosition = ""; // empty while it is unknown
    private int splitRounds; // rounds do not overlap

    @GuardedBy("this")
    private final BitSet hintingMasters = new BitSet();

    public RedlockContender(ContenderEnvironment environment, LockRequest request, ContenderListener listener) {
        this.environment = environment;
        this.request = request;
        this.listener = listener;
        this.keys = environment.keys().of(request.name());
        this.ownerRecord = environment.ownerRecord(request);
        for (RedlockMaster master : environment.masters().all()) {
            parts.add(new AttemptAtMaster(master, environment.context(), request, keys));
        }
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        String reason = displacedReason;
        if (reason != null) {
            cleanUpDisplaced();
            return CompletableFuture.completedFuture(new AttemptResult.Displaced(reason));
        }
        synchronized (this) {
            hintingMasters.clear();
        }
        if (request.mayWait() && queuePosition.isEmpty()) {
            // Before the request is sent: a message may arrive together with the answer.
            environment.contenders().add(request.attemptId(), this);
            queuePosition = environment.masters().queuePosition().orElse("");
        }
        AcquireRound round = new AcquireRound(this, parts, environment.masters().quorum());
        lastRound = round;
        return round.start();
    }

    /** Cleans up everywhere: the core drops this contender without ending it. */
    private void cleanUpDisplaced() {
        ended = true;
        environment.contenders().remove(request.attemptId());
        parts.stream().filter(AttemptAtMaster::mayHaveOrphans).forEach(this::cleanUp);
    }

    /** @param tally of the round that was won: votes may still come in */
    AttemptResult grant(long token, MonotonicTime validUntil, VoteTally tally) {
        granted = true;
        VoteRecoveryPolicy policy = new VoteRecoveryPolicy(tally, request.leaseDuration(), validUntil);
        VoteRecovery recovery = new VoteRecovery(this, parts, policy, token);
        return new AttemptResult.Granted(
                token,
                new RedlockGrantValidity(
                        environment.context().clock(),
                        keys,
                        request.attemptId(),
                        request.leaseDuration(),
                        validUntil,
                        recovery));
    }

    AttemptResult waiting(VoteTally tally) {
        boolean held = tally.holder().isPresent();
        splitRounds = held ? 0 : splitRounds + 1;
        double random = ThreadLocalRandom.current().nextDouble();
        return new AttemptResult.Waiting(RedlockRetryPolicy.delay(
                tally.votes(), held, environment.masters().quorum(), random, splitRounds));
    }

    /**
     * Gives up this attempt id: a request that may still be executed would delete a later grant of it. The core asks anew with
     * another id, and soon, since what this attempt may have blocks other contenders until then.
     */
    void displace(String reason) {
        boolean first = displacedReason == null;
        displacedReason = reason;
        if (first) {
            runWithin(MIN_DISPLACED_DELAY, MAX_DISPLACED_DELAY, () -> {
                if (!granted && !ended) {
                    listener.wake();
                }
            });
        }
    }

    private void runWithin(Duration min, Duration max, Runnable action) {
        long delay = ThreadLocalRandom.current().nextLong(min.toNanos(), max.toNanos());
        environment.context().clock().schedule(Duration.ofNanos(delay), action);
    }

    boolean isEnded() {
        return ended;
    }

    boolean mayWait() {
        return request.mayWait();
    }

    RedlockKeys.LockKeys keys() {
        return keys;
    }

    Duration leaseDuration() {
        return request.leaseDuration();
    }

    MonotonicTime now() {
        return environment.context().clock().now();
    }

    /** Returns the name of the operation for error messages. */
    String operation() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    void enterQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        environment.quarantine().enterQuarantine(master, handshake);
    }

    void unanswered(RedlockMaster master, MasterHandshakeReply handshake, MonotonicTime sent) {
        environment.quarantine().unanswered(master, handshake, sent);
    }

    /** Returns the arguments of {@code acquire.lua}. */
    String[] acquireArgs(AttemptAtMaster part, MasterHandshakeReply voting, ServerTime notAfter) {
        String lease = String.valueOf(request.leaseDuration().toMillis());
        String mayBeQueued = part.orphans().mayBeQueued() ? "1" : "0";
        String until = String.valueOf(notAfter.micros());
        return request.mayWait()
                ? new String[] {
                    voting.runId(),
                    keys.bucket(),
                    request.attemptId(),
                    ownerRecord,
                    lease,
                    until,
                    mayBeQueued,
                    voting.node().channel(),
                    queuePositionOrLast(),
                    QUEUE_ENTRY_TTL_MILLIS
                }
                : new String[] {
                    voting.runId(), keys.bucket(), request.attemptId(), ownerRecord, lease, until, mayBeQueued
                };
    }

    /** Returns the arguments of {@code raise_token.lua}. */
    String[] raiseTokenArgs(MasterHandshakeReply voting, long token) {
        return new String[] {voting.runId(), keys.bucket(), request.attemptId(), String.valueOf(token)};
    }

    /** Returns the arguments of {@code recover_vote.lua}. */
    String[] recoverVoteArgs(MasterHandshakeReply voting, ServerTime notAfter, long token) {
        return new String[] {
            voting.runId(),
            keys.bucket(),
            request.attemptId(),
            String.valueOf(token),
            ownerRecord,
            String.valueOf(request.leaseDuration().toMillis()),
            String.valueOf(notAfter.micros())
        };
    }

    /** Returns the arguments of {@code yield_vote.lua}. */
    String[] yieldVoteArgs(AttemptAtMaster part) {
        return new String[] {
            request.attemptId(),
            ownerRecord,
            String.valueOf(request.leaseDuration().toMillis()),
            part.master().node().channel(),
            queuePositionOrLast(),
            QUEUE_ENTRY_TTL_MILLIS
        };
    }

    private String queuePositionOrLast() {
        String known = queuePosition;
        return known.isEmpty() ? LAST_IN_QUEUE : known;
    }

    /** Receives the hint that the lock may be free at that master. Runs on its I/O thread. */
    public void lockMayBeFree(int master) {
        int count;
        synchronized (this) {
            if (granted || hintingMasters.get(master)) {
                return;
            }
            hintingMasters.set(master);
            count = hintingMasters.cardinality();
        }
        if (count == environment.masters().quorum().majority()) {
            listener.wake();
        } else if (count == 1) {
            runWithin(MIN_MINORITY_HINT_DELAY, MAX_MINORITY_HINT_DELAY, this::wakeOnMinorityHint);
        }
    }

    private void wakeOnMinorityHint() {
        boolean minority;
        synchronized (this) {
            int count = hintingMasters.cardinality();
            minority = count > 0 && count < environment.masters().quorum().majority();
        }
        if (minority && !granted) {
            listener.wake();
        }
    }

    /** Returns whether it still waits, so that its queue entries matter. */
    public boolean isWaiting() {
        return !granted && request.mayWait();
    }

    @Override
    public void wake() {
        listener.wake();
    }

    @Override
    public CompletionStage<Boolean> end() {
        ended = true;
        environment.contenders().remove(request.attemptId());
        return new ReleaseRound(this, parts, environment.context(), "release of lock \"" + request.name() + "\"")
                .start();
    }

    /** Starts the cleanup at a master that has not answered or may execute a request later (S8). */
    void cleanUp(AttemptAtMaster part) {
        OrphanCleanup.start(part, request, environment.context());
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        AcquireRound round = lastRound;
        return Optional.ofNullable(round)
                .map(known -> environment.summary().apply(known.report()))
                .filter(summary -> summary.getClass() == type)
                .map(type::cast);
    }
}
