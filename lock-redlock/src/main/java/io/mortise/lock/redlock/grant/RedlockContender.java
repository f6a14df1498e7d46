// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.vote.LostVoteRecoveryPolicy;
import io.mortise.lock.redlock.vote.RedlockRetryPolicy;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Requests votes from all masters for one acquire attempt, and keeps a queue entry at each master while waiting.
 *
 * <p>Messages of masters are only hints: a grant requires an {@link AcquireRound} that wins a majority.
 */
public final class RedlockContender implements Contender, ContenderRegistry.Owner {
    /** Lifetime of a queue entry that no retry extends: more than three times the longest retry delay. */
    static final Duration QUEUE_ENTRY_TTL = Duration.ofSeconds(20);

    private static final String QUEUE_ENTRY_TTL_MILLIS = String.valueOf(QUEUE_ENTRY_TTL.toMillis());

    /** Queue position if no master's clock is known yet: the last, until the contender retries. */
    private static final String LAST_IN_QUEUE = "inf";

    /** Minimum delay after which hints of fewer masters than a majority wake the contender. */
    private static final Duration MIN_MINORITY_HINT_DELAY = Duration.ofMillis(5);

    private static final Duration MAX_MINORITY_HINT_DELAY = Duration.ofMillis(20);

    /** Minimum delay before a contender retries whose vote may not have been deleted, to avoid a tight loop. */
    private static final Duration MIN_RETRY_DELAY = Duration.ofMillis(20);

    private static final Duration MAX_RETRY_DELAY = Duration.ofMillis(100);

    private final ContenderServices services;

    private final LockRequest request;
    private final ContenderListener listener;
    private final RedlockKeys.LockKeys keys;
    private final String ownerRecord;
    private final List<StoredAttemptAtMaster> attempts = new ArrayList<>();
    private volatile @Nullable AcquireRound lastRound;
    private volatile boolean granted;
    private volatile boolean ended;
    private volatile String queuePosition = ""; // empty while it is unknown
    private int rounds; // attempts do not overlap
    private int splitRounds; // rounds do not overlap

    @GuardedBy("this")
    private final BitSet hintingMasters = new BitSet();

    public RedlockContender(ContenderServices services, LockRequest request, ContenderListener listener) {
        this.services = services;
        this.request = request;
        this.listener = listener;
        this.keys = services.keys().of(request.name());
        this.ownerRecord = services.ownerRecord(request);
        for (RedlockMaster master : services.masters().all()) {
            attempts.add(new StoredAttemptAtMaster(master, request, keys));
        }
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        synchronized (this) {
            hintingMasters.clear();
        }
        if (request.mayWait() && queuePosition.isEmpty()) {
            // Registered before the request is sent, since a message may arrive together with the reply.
            services.contenders().add(request.attemptId(), this);
            queuePosition = services.masters().queuePosition().orElse("");
        }
        AcquireRound round =
                new AcquireRound(this, ++rounds, attempts, services.masters().quorum());
        lastRound = round;
        return round.start();
    }

    /**
     * Returns the result of a won round.
     *
     * @param tally votes of the won round; more votes may still arrive
     * @param round number of the won round
     */
    AttemptResult grant(long token, MonotonicInstant validUntil, VoteTally tally, int round) {
        granted = true;
        LostVoteRecoveryPolicy policy = new LostVoteRecoveryPolicy(tally, request.leaseDuration(), validUntil);
        VoteRecovery recovery = new VoteRecovery(this, attempts, policy, round, token);
        return new AttemptResult.Granted(
                token,
                new RedlockGrantValidity(
                        services.context().clock(),
                        keys,
                        request.attemptId(),
                        round,
                        request.leaseDuration(),
                        validUntil,
                        recovery));
    }

    AttemptResult waiting(VoteTally tally) {
        boolean held = tally.holder().isPresent();
        splitRounds = held ? 0 : splitRounds + 1;
        double random = ThreadLocalRandom.current().nextDouble();
        return new AttemptResult.Waiting(
                RedlockRetryPolicy.delay(tally.votes(), held, services.masters().quorum(), random, splitRounds));
    }

    /** Lets the core retry soon, because a vote of a lost round may remain: the next round either uses or deletes it. */
    void retrySoon() {
        runWithin(MIN_RETRY_DELAY, MAX_RETRY_DELAY, () -> {
            if (!granted && !ended) {
                listener.wake();
            }
        });
    }

    private void runWithin(Duration min, Duration max, Runnable action) {
        long delay = ThreadLocalRandom.current().nextLong(min.toNanos(), max.toNanos());
        services.context().clock().schedule(Duration.ofNanos(delay), action);
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

    MonotonicInstant now() {
        return services.context().clock().now();
    }

    /** Returns the name of the operation for error messages. */
    String operation() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    void enterQuarantine(RedlockMaster master, MasterHandshakeReply handshake) {
        services.quarantine().enterQuarantine(master, handshake);
    }

    void replyMissing(RedlockMaster master, MasterHandshakeReply handshake, MonotonicInstant sent) {
        services.quarantine().replyMissing(master, handshake, sent);
    }

    /** Returns the arguments of {@code acquire.lua}. */
    String[] acquireArgs(StoredAttemptAtMaster attempt, MasterHandshakeReply voting, ServerTime notAfter, int round) {
        String lease = String.valueOf(request.leaseDuration().toMillis());
        String mayBeQueued = attempt.mayBeQueued() ? "1" : "0";
        String until = String.valueOf(notAfter.micros());
        return request.mayWait()
                ? new String[] {
                    voting.runId(),
                    keys.bucket(),
                    request.attemptId(),
                    voteRecord(round),
                    lease,
                    until,
                    mayBeQueued,
                    voting.node().channel(),
                    queuePositionOrLast(),
                    QUEUE_ENTRY_TTL_MILLIS
                }
                : new String[] {
                    voting.runId(), keys.bucket(), request.attemptId(), voteRecord(round), lease, until, mayBeQueued
                };
    }

    /** Returns the text of a vote without its token. */
    private String voteRecord(int round) {
        return ownerRecord + " round=" + round;
    }

    /** Returns the arguments of {@code raise_token.lua}. */
    String[] raiseTokenArgs(MasterHandshakeReply voting, int round, long token) {
        return new String[] {
            voting.runId(), keys.bucket(), request.attemptId(), String.valueOf(round), String.valueOf(token)
        };
    }

    /** Returns the arguments of {@code recover_vote.lua}. */
    String[] recoverVoteArgs(MasterHandshakeReply voting, ServerTime notAfter, int round, long token) {
        return new String[] {
            voting.runId(),
            keys.bucket(),
            request.attemptId(),
            String.valueOf(token),
            voteRecord(round),
            String.valueOf(request.leaseDuration().toMillis()),
            String.valueOf(notAfter.micros())
        };
    }

    /** Returns the arguments of {@code yield_vote.lua}. */
    String[] yieldVoteArgs(StoredAttemptAtMaster attempt, int round, boolean wakes) {
        return new String[] {
            request.attemptId(),
            String.valueOf(round),
            wakes ? "1" : "0",
            ownerRecord,
            String.valueOf(request.leaseDuration().toMillis()),
            attempt.master().node().channel(),
            queuePositionOrLast(),
            QUEUE_ENTRY_TTL_MILLIS
        };
    }

    private String queuePositionOrLast() {
        String known = queuePosition;
        return known.isEmpty() ? LAST_IN_QUEUE : known;
    }

    /** Receives the hint that the lock may be free at one master. Runs on the I/O thread of its connection. */
    public void lockMayBeFree(int master) {
        int count;
        synchronized (this) {
            if (granted || hintingMasters.get(master)) {
                return;
            }
            hintingMasters.set(master);
            count = hintingMasters.cardinality();
        }
        if (count == services.masters().quorum().majority()) {
            listener.wake();
        } else if (count == 1) {
            runWithin(MIN_MINORITY_HINT_DELAY, MAX_MINORITY_HINT_DELAY, this::wakeOnMinorityHint);
        }
    }

    private void wakeOnMinorityHint() {
        boolean minority;
        synchronized (this) {
            int count = hintingMasters.cardinality();
            minority = count > 0 && count < services.masters().quorum().majority();
        }
        if (minority && !granted) {
            listener.wake();
        }
    }

    /** Returns whether this contender still waits, so that its queue entries are still needed. */
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
        services.contenders().remove(request.attemptId());
        return new ReleaseRound(this, attempts, services.context(), "release of lock \"" + request.name() + "\"")
                .start();
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        ended = true;
        services.contenders().remove(request.attemptId());
        String operation = "delayed release of lock \"" + request.name() + "\"";
        return new DelayedReleaseRound(this, attempts, request.attemptId(), services.context(), operation, delay)
                .start();
    }

    /** Starts the cleanup at a master that has not replied or may execute a request later (S8). */
    void cleanUp(StoredAttemptAtMaster attempt) {
        OrphanCleanup.start(attempt, request, services.context());
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        AcquireRound round = lastRound;
        return Optional.ofNullable(round)
                .map(known -> services.summary().apply(known.report()))
                .filter(summary -> summary.getClass() == type)
                .map(type::cast);
    }
}
