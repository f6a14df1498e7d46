// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.contender.ContenderRegistry;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.CompleteCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.DeleteKeptVote;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailAttempt;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailEnd;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.FailWithoutQuorum;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Pause;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Plain;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportBusy;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.ReportGranted;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendDelayedRelease;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendToken;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.StartCleanup;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Attempt;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CleanupDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.CleanupEnded;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.End;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.EndAfter;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Hint;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.HintsDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.PauseOver;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.VoteMissing;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.vote.LostVoteRecoveryPolicy;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.redlock.vote.RedlockRetryPolicy;
import io.mortise.lock.redlock.vote.VoteTally;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.SerialMachine;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Performs what the protocol of one contender, {@link RedlockContenderState}, decides: reads the clock, sends requests, starts
 * timers, and completes the calls of the core.
 *
 * <p>Messages of masters are only hints: a grant requires a round that wins a majority.
 */
public final class RedlockContender implements Contender, ContenderRegistry.Owner {
    private static final Duration RELEASE_RETRY_DELAY = Duration.ofMillis(50);

    /** Minimum delay after which hints of fewer masters than a majority wake the contender. */
    private static final Duration MIN_MINORITY_HINT_DELAY = Duration.ofMillis(5);

    private static final Duration MAX_MINORITY_HINT_DELAY = Duration.ofMillis(20);

    /** Minimum delay before a contender retries whose vote may not have been deleted, to avoid a tight loop. */
    private static final Duration MIN_RETRY_DELAY = Duration.ofMillis(20);

    private static final Duration MAX_RETRY_DELAY = Duration.ofMillis(100);

    /** The part of the request timeout in which a round with split votes may be repeated, and the longest pause before it. */
    private static final int REPEAT_WITHIN = 4;

    private final ContenderServices services;
    private final LockRequest request;
    private final ContenderListener listener;
    private final RedlockContenderRequests requests;
    private final SerialMachine<RedlockContenderState, RedlockContenderEvent, RedlockContenderEffect> machine;
    private final Map<Integer, CompletableFuture<Boolean>> cleanups = new ConcurrentHashMap<>(); // by master
    private volatile RedlockContenderState current; // for reports; the machine has its own
    private volatile @Nullable LostVoteRecoveryPolicy recoveryPolicy; // of the grant

    /** The future that the present call of the core has returned. */
    private CompletableFuture<AttemptResult> attempt = new CompletableFuture<>();

    private CompletableFuture<Boolean> end = new CompletableFuture<>();

    public RedlockContender(ContenderServices services, LockRequest request, ContenderListener listener) {
        this.services = services;
        this.request = request;
        this.listener = listener;
        this.current = RedlockContenderState.initial(services.masters().all().size(), request.mayWait());
        this.machine = new SerialMachine<>(current, this::transition, this::perform, this::failed);
        this.requests = new RedlockContenderRequests(services, request, machine, this::voteSeen);
    }

    private RedlockContenderState.Step transition(RedlockContenderState state, RedlockContenderEvent event) {
        RedlockContenderState.Step step = RedlockContenderState.on(state, event);
        current = step.state();
        return step;
    }

    @Override
    public CompletionStage<AttemptResult> attempt() {
        CompletableFuture<AttemptResult> result = new CompletableFuture<>();
        attempt = result;
        if (request.mayWait() && requests.chooseQueuePosition()) {
            // Registered before the request is sent, since a message may arrive together with the reply.
            services.contenders().add(request.attemptId(), this);
        }
        machine.accept(new Attempt(deadlineFromNow(), now().plus(repeatWithin())));
        return result;
    }

    @Override
    public CompletionStage<Boolean> end() {
        Duration nodeTimeout = services.masters().all().get(0).node().requestTimeout();
        return end(new End(now().plus(services.context().requestTimeout())
                .minus(nodeTimeout)
                .minus(RELEASE_RETRY_DELAY)));
    }

    @Override
    public CompletionStage<Boolean> endAfter(Duration delay) {
        return end(new EndAfter(delay));
    }

    private CompletionStage<Boolean> end(RedlockContenderEvent call) {
        services.contenders().remove(request.attemptId());
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        end = result;
        machine.accept(call);
        return result;
    }

    private Duration repeatWithin() {
        return Durations.divide(services.context().requestTimeout(), REPEAT_WITHIN);
    }

    private MonotonicInstant now() {
        return services.context().clock().now();
    }

    private MonotonicInstant deadlineFromNow() {
        return LockClock.deadline(now(), request.leaseDuration());
    }

    private void perform(RedlockContenderEffect effect) {
        if (effect instanceof Plain plain) {
            performPlain(plain);
        } else if (effect instanceof SendAcquire send) {
            requests.acquire(send);
        } else if (effect instanceof SendToken send) {
            requests.storeToken(send);
        } else if (effect instanceof SendYield send) {
            requests.yieldVote(send);
        } else if (effect instanceof SendRecovery send) {
            requests.recover(send);
        } else if (effect instanceof SendRemoval send) {
            requests.remove(send);
        } else if (effect instanceof RepeatRemoval repeat) {
            schedule(RELEASE_RETRY_DELAY, () -> machine.accept(new RemovalDue(repeat.master())));
        } else if (effect instanceof SendDelayedRelease send) {
            requests.releaseAfter(send);
        } else if (effect instanceof DeleteKeptVote delete) {
            requests.deleteKeptVote(delete);
        } else if (effect instanceof StartCleanup start) {
            startCleanup(start);
        } else if (effect instanceof CompleteCleanup complete) {
            machine.complete(cleanup(complete.master()), true);
        } else if (effect instanceof RepeatCleanup repeat) {
            machine.fail(cleanup(repeat.master()), unavailable("a request without an answer may still be executed"));
        } else if (effect instanceof FailCleanup failure) {
            machine.fail(cleanup(failure.master()), failure.cause());
        } else {
            report(effect);
        }
    }

    private @Nullable RedlockContenderEvent failed(RedlockContenderEffect effect, Throwable cause) {
        return requests.failed(effect, cause);
    }

    private void performPlain(Plain effect) {
        switch (effect) {
            case WAKE -> machine.afterwards(listener::wake);
            case WAKE_SOON -> runWithin(MIN_RETRY_DELAY, MAX_RETRY_DELAY, this::wakeIfWaiting);
            case AWAIT_HINTS ->
                runWithin(MIN_MINORITY_HINT_DELAY, MAX_MINORITY_HINT_DELAY, () -> machine.accept(new HintsDue()));
        }
    }

    private void report(RedlockContenderEffect effect) {
        if (effect instanceof ReportGranted granted) {
            machine.complete(attempt, granted(granted));
        } else if (effect instanceof ReportBusy busy) {
            machine.complete(attempt, new AttemptResult.Waiting(delay(busy.votes(), busy.splitRounds())));
        } else if (effect instanceof Pause pause) {
            schedule(
                    Durations.shorter(delay(pause.votes(), pause.splitRounds()), repeatWithin()),
                    () -> machine.accept(new PauseOver(deadlineFromNow(), listener.isStillWaiting())));
        } else if (effect instanceof FailWithoutQuorum failure) {
            machine.fail(attempt, report(failure.votes()).noQuorum(requests.what("acquire")));
        } else if (effect instanceof FailAttempt failure) {
            machine.fail(attempt, unavailable(requests.what("acquire") + ": " + failure.why()));
        } else if (effect instanceof ReportEnded ended) {
            machine.complete(end, ended.existed());
        } else if (effect instanceof FailEnd failure) {
            machine.fail(end, endFailure(failure));
        }
    }

    private void schedule(Duration delay, Runnable action) {
        services.context().clock().schedule(delay, action);
    }

    private void runWithin(Duration min, Duration max, Runnable action) {
        schedule(Duration.ofNanos(ThreadLocalRandom.current().nextLong(min.toNanos(), max.toNanos())), action);
    }

    private static BackendUnavailableException unavailable(String message) {
        return new BackendUnavailableException(message);
    }

    private Duration delay(VoteTally votes, int splitRounds) {
        boolean held = votes.holder().isPresent();
        double random = ThreadLocalRandom.current().nextDouble();
        return RedlockRetryPolicy.delay(votes.votes(), held, votes.quorum(), random, splitRounds);
    }

    private AttemptResult granted(ReportGranted granted) {
        recoveryPolicy = new LostVoteRecoveryPolicy(
                master -> current.votes().of(master) instanceof MasterVote.Granted,
                services.masters().all().size(),
                request.leaseDuration(),
                granted.validUntil());
        return new AttemptResult.Granted(
                granted.token(),
                new RedlockGrantValidity(
                        services.context().clock(),
                        requests.keys(),
                        request.attemptId(),
                        granted.round(),
                        request.leaseDuration(),
                        granted.validUntil(),
                        this));
    }

    private BackendUnavailableException endFailure(FailEnd failure) {
        List<String> failed = failure.failures().stream()
                .map(each -> RoundReport.failedMaster(master(each.master()).endpoint(), each.why()))
                .toList();
        String operation = requests.what(failure.delayed() ? "delayed release" : "release");
        return unavailable(operation + ": "
                + RoundReport.noQuorumMessage(
                        failure.replies(), services.masters().all().size(), failed));
    }

    private RedlockMaster master(int index) {
        return services.masters().all().get(index);
    }

    // ---- the cleanup

    private void startCleanup(StartCleanup start) {
        OrphanCleanup.start(
                master(start.master()),
                request,
                services.context(),
                start.mayBeQueued(),
                result -> {
                    cleanups.put(start.master(), result);
                    machine.accept(new CleanupDue(start.master()));
                },
                () -> machine.accept(new CleanupEnded(start.master())));
    }

    private CompletableFuture<Boolean> cleanup(int master) {
        return cleanups.getOrDefault(master, new CompletableFuture<>());
    }

    // ---- the recovery of votes

    /** Records that a renewal that was sent at the given time found the vote at that master. */
    void voteSeen(int master, MonotonicInstant sent) {
        LostVoteRecoveryPolicy policy = recoveryPolicy;
        if (policy != null) {
            policy.voteSeen(master, sent);
        }
    }

    /** Records that a renewal found the vote missing, and returns whether to recover it once that renewal has succeeded. */
    boolean voteMissing(int master) {
        LostVoteRecoveryPolicy policy = recoveryPolicy;
        return policy != null && policy.voteMissing(master, now());
    }

    /**
     * Requests the vote of that master, which grants it if the key is free; not after the release has begun. The next renewal
     * shows whether the master granted it.
     */
    void recoverVote(int master) {
        machine.accept(new VoteMissing(master));
    }

    // ---- hints

    /** Receives the hint that the lock may be free at one master. Runs on the I/O thread of its connection. */
    public void lockMayBeFree(int master) {
        machine.accept(new Hint(master));
    }

    /** Returns whether this contender still waits, so that its queue entries are still needed. */
    public boolean isWaiting() {
        return request.mayWait() && current.mayNeedHints();
    }

    private void wakeIfWaiting() {
        if (isWaiting()) {
            listener.wake();
        }
    }

    @Override
    public void wake() {
        listener.wake();
    }

    private RoundReport report(VoteTally votes) {
        return RoundReport.of(services.masters().all(), votes);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        RedlockContenderState known = current;
        return Optional.of(known)
                .filter(state -> state.round() > 0)
                .map(state -> services.summary().apply(report(state.votes())))
                .filter(summary -> summary.getClass() == type)
                .map(type::cast);
    }
}
