// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Sends a last renewal of one grant to all masters in parallel, after which the grant expires with the delay.
 *
 * <p>The lock stays taken if a majority keeps the grant. Elsewhere it expires with its lease, which is no majority.
 */
final class DelayedReleaseRound {
    private final ContenderServices services;
    private final RedlockKeys.LockKeys keys;
    private final String attemptId;
    private final String operation;
    private final YesNoTally kept;
    private final Queue<String> failed = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Boolean> outcome = new CompletableFuture<>();

    DelayedReleaseRound(ContenderServices services, RedlockKeys.LockKeys keys, String attemptId, String operation) {
        this.services = services;
        this.keys = keys;
        this.attemptId = attemptId;
        this.operation = operation;
        this.kept = new YesNoTally(services.masters().quorum());
    }

    /** Sends all requests. The stage completes with whether a majority keeps the grant; it fails if that is unknown. */
    CompletionStage<Boolean> start(Duration delay) {
        String millis = String.valueOf(Durations.roundUpToMillis(delay).toMillis());
        services.masters().all().forEach(master -> send(master, millis));
        return outcome;
    }

    private void send(RedlockMaster master, String millis) {
        MasterHandshakeReply voting = master.voting();
        if (voting == null) {
            addFailed(master, "it does not vote");
            return;
        }
        String[] stateAndGrant = {keys.state(), keys.grant()};
        String[] args = {voting.runId(), attemptId, millis};
        voting.node().run(RedlockScript.RENEW.script(), stateAndGrant, args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                if (values.get(0) instanceof String) {
                    services.quarantine().enterQuarantine(master, voting);
                    addFailed(master, "it does not vote");
                } else if (!voting.isCurrent()) {
                    addFailed(master, "it was restarted");
                } else {
                    add(values.get(0).equals(1L) ? YesNoTally.Answer.YES : YesNoTally.Answer.NO);
                }
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                addFailed(
                        master,
                        String.valueOf(RedisErrors.of(cause, operation, master.endpoint())
                                .getMessage()));
            }
        });
    }

    private void addFailed(RedlockMaster master, String why) {
        failed.add(RoundReport.failedMaster(master.endpoint(), why));
        add(YesNoTally.Answer.NONE);
    }

    private void add(YesNoTally.Answer answer) {
        switch (kept.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> outcome.complete(true);
            case REJECTED -> outcome.complete(false);
            case UNDECIDED ->
                outcome.completeExceptionally(new BackendUnavailableException(operation + ": "
                        + RoundReport.noQuorumMessage(
                                kept.yes() + kept.no(),
                                services.masters().quorum().masters(),
                                failed)));
        }
    }
}
