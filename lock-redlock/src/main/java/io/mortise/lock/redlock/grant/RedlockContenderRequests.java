// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.client.RedisErrors;
import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.DeleteKeptVote;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.Pause;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.RepeatRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendAcquire;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendDelayedRelease;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRecovery;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendRemoval;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendToken;
import io.mortise.lock.redlock.grant.RedlockContenderEffect.SendYield;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Answer;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.KeepFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Kept;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.NotExecuted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.PauseOver;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalDue;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.RemovalFailed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Removed;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.TokenStored;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.Voted;
import io.mortise.lock.redlock.grant.RedlockContenderEvent.YieldFailed;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.MasterVote;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sends the scripts of one contender to the masters, and has the replies turned into events. Thread-safe. */
final class RedlockContenderRequests {
    /** Lifetime of a queue entry that no retry extends: more than three times the longest retry delay. */
    static final Duration QUEUE_ENTRY_TTL = Duration.ofSeconds(20);

    /** Queue position if no master's clock is known yet: the last, until the contender retries. */
    private static final String LAST_IN_QUEUE = "inf";

    private final ContenderServices services;
    private final LockRequest request;
    private final Consumer<RedlockContenderEvent> events;
    private final VoteRecovered voteRecovered;
    private final RedlockKeys.LockKeys keys;
    private final String ownerRecord;
    private final String lease;
    private volatile String queuePosition = ""; // empty while it is unknown

    /** Callback that receives each master that has voted again, and when the request was sent. */
    interface VoteRecovered {
        void at(int master, MonotonicInstant sent);
    }

    /** Creates the requests of one contender; sends nothing yet. */
    RedlockContenderRequests(
            ContenderServices services,
            LockRequest request,
            Consumer<RedlockContenderEvent> events,
            VoteRecovered voteRecovered) {
        this.services = services;
        this.request = request;
        this.events = events;
        this.voteRecovered = voteRecovered;
        this.keys = services.keys().of(request.name());
        this.ownerRecord = services.ownerRecord(request);
        this.lease = String.valueOf(request.leaseDuration().toMillis());
    }

    RedlockKeys.LockKeys keys() {
        return keys;
    }

    /** Returns the name of an operation for error messages. */
    String what(String operation) {
        return operation + " of lock \"" + request.name() + "\"";
    }

    /** Chooses the queue position, unless it is known. Returns false if it was. */
    boolean chooseQueuePosition() {
        boolean unknown = queuePosition.isEmpty();
        if (unknown) {
            queuePosition = services.masters().queuePosition().orElse("");
        }
        return unknown;
    }

    private RedlockMaster master(int index) {
        return services.masters().all().get(index);
    }

    private MonotonicInstant now() {
        return services.context().clock().now();
    }

    /**
     * Returns the event for an effect that threw; null if it leads to none. A request that threw an exception was not sent; after an error
     * nobody knows.
     */
    @Nullable
    RedlockContenderEvent failed(RedlockContenderEffect effect, Throwable why) {
        LockException cause = new BackendUnavailableException(what("a request") + " was not sent: " + why, why);
        boolean mayExecute = why instanceof Error;
        if (effect instanceof SendAcquire send) {
            MasterVote vote = new MasterVote.Failed(cause, mayExecute);
            return new Voted(send.master(), send.round(), vote, execution(send.master(), mayExecute), now());
        } else if (effect instanceof SendToken send) {
            return new TokenStored(send.master(), send.round(), Answer.NONE, now());
        } else if (effect instanceof SendYield send) {
            return new YieldFailed(send.master());
        } else if (effect instanceof SendRecovery send) {
            return new Recovered(send.master(), execution(send.master(), mayExecute));
        } else if (effect instanceof SendRemoval send) {
            return new RemovalFailed(send.master(), send.forCleanup(), cause, now());
        } else if (effect instanceof SendDelayedRelease send) {
            return new KeepFailed(send.master(), String.valueOf(cause.getMessage()));
        } else if (effect instanceof Pause) { // a timer that cannot be started is taken for one that has fired
            return new PauseOver(now(), false);
        } else if (effect instanceof RepeatRemoval repeat) {
            return new RemovalDue(repeat.master());
        }
        return null;
    }

    private RedlockContenderEvent.Execution execution(int master, boolean mayExecute) {
        return mayExecute
                ? new RedlockContenderEvent.InDoubt(master(master).node().epoch(), Long.MAX_VALUE)
                : new NotExecuted();
    }

    void acquire(SendAcquire send) {
        RedlockMaster master = master(send.master());
        MasterHandshakeReply voting = master.eligibleVoter();
        if (voting == null) {
            events.accept(new Voted(send.master(), send.round(), master.abstention(false), new NotExecuted(), now()));
            return;
        }
        VoteReplyHandler handler =
                new AcquireReplyHandler(services, events, master, voting, send, () -> what("acquire"));
        List<String> args = new ArrayList<>(List.of(
                voting.runId(),
                keys.bucket(),
                request.attemptId(),
                voteRecord(send.round()),
                lease,
                String.valueOf(handler.notAfter()),
                send.mayBeQueued() ? "1" : "0"));
        if (request.mayWait()) {
            args.addAll(queueArgs(voting.node()));
        }
        voting.node().run(RedlockScript.ACQUIRE.script(), keys.all(), args.toArray(String[]::new), handler);
    }

    /** Returns the text of a vote without its token. */
    private String voteRecord(int round) {
        return ownerRecord + " round=" + round;
    }

    private List<String> queueArgs(RedisNodeClient node) {
        String known = queuePosition;
        return List.of(
                node.channel(), known.isEmpty() ? LAST_IN_QUEUE : known, String.valueOf(QUEUE_ENTRY_TTL.toMillis()));
    }

    void storeToken(SendToken send) {
        MasterHandshakeReply voting = master(send.master()).voting();
        if (voting == null) {
            tokenStored(send, Answer.NONE);
            return;
        }
        String[] args = {
            voting.runId(),
            keys.bucket(),
            request.attemptId(),
            String.valueOf(send.round()),
            String.valueOf(send.token())
        };
        voting.node().run(RedlockScript.RAISE_TOKEN.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                boolean counts = voting.isCurrent() && values.get(0) instanceof Long;
                tokenStored(send, !counts ? Answer.NONE : values.get(0).equals(1L) ? Answer.YES : Answer.NO);
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                tokenStored(send, Answer.NONE);
            }
        });
    }

    private void tokenStored(SendToken send, Answer answer) {
        events.accept(new TokenStored(send.master(), send.round(), answer, now()));
    }

    void yieldVote(SendYield send) {
        RedisNodeClient node = master(send.master()).node();
        List<String> args =
                new ArrayList<>(List.of(request.attemptId(), String.valueOf(send.round()), send.wakes() ? "1" : "0"));
        if (request.mayWait()) {
            args.addAll(List.of(ownerRecord, lease));
            args.addAll(queueArgs(node));
        }
        node.run(RedlockScript.YIELD_VOTE.script(), keys.all(), args.toArray(String[]::new), new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {}

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                events.accept(new YieldFailed(send.master()));
            }
        });
    }

    void recover(SendRecovery send) {
        RedlockMaster master = master(send.master());
        MasterHandshakeReply voting = master.eligibleVoter();
        if (voting == null) {
            events.accept(new Recovered(send.master(), new NotExecuted()));
            return;
        }
        VoteReplyHandler handler = new RecoveryReplyHandler(
                services, events, master, voting, sent -> voteRecovered.at(send.master(), sent));
        String[] args = {
            voting.runId(),
            keys.bucket(),
            request.attemptId(),
            String.valueOf(send.token()),
            voteRecord(send.round()),
            lease,
            String.valueOf(handler.notAfter())
        };
        voting.node().run(RedlockScript.RECOVER_VOTE.script(), keys.all(), args, handler);
    }

    void remove(SendRemoval send) {
        AttemptRemoval removal = new AttemptRemoval(request, RedlockScript.RELEASE.script(), keys.all());
        removal.send(master(send.master()).node(), send.withTime(), new AttemptRemoval.Handler() {
            @Override
            public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {
                events.accept(
                        new Removed(send.master(), send.forCleanup(), send.repeated(), held, epoch, time.micros()));
            }

            @Override
            public void onFailure(boolean notExecuted, LockException cause) {
                events.accept(new RemovalFailed(send.master(), send.forCleanup(), cause, now()));
            }
        });
    }

    void releaseAfter(SendDelayedRelease send) {
        RedlockMaster master = master(send.master());
        MasterHandshakeReply voting = master.voting();
        if (voting == null) {
            events.accept(new KeepFailed(send.master(), "it does not vote"));
            return;
        }
        String millis = String.valueOf(Durations.roundUpToMillis(send.delay()).toMillis());
        // Masters may store different tokens for one grant, so the script gets none.
        String[] args = {request.attemptId(), millis, "", voting.runId()};
        voting.node().run(RedlockScript.RELEASE_AFTER.script(), keys.all(), args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                if (values.get(0) instanceof String) {
                    services.quarantine().enterQuarantine(master, voting);
                    failed("it does not vote");
                } else if (!voting.isCurrent()) {
                    failed("it was restarted");
                } else {
                    events.accept(
                            new Kept(send.master(), values.get(0).equals(1L), voting.epoch(), (Long) values.get(1)));
                }
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                failed(String.valueOf(RedisErrors.of(cause, what("delayed release"), master.endpoint())
                        .getMessage()));
            }

            private void failed(String why) {
                events.accept(new KeepFailed(send.master(), why));
            }
        });
    }

    void deleteKeptVote(DeleteKeptVote delete) {
        RedlockMaster master = master(delete.master());
        String operation = what("delayed release");
        services.context()
                .cleanUp(
                        "the vote that " + master.endpoint() + " may keep after a " + operation,
                        () -> master.node()
                                .execute(
                                        operation,
                                        RedlockScript.RELEASE.script(),
                                        keys.all(),
                                        OwnerRecordCodec.KEPT_MARK + request.attemptId(),
                                        "0"),
                        now().plus(delete.delay()));
    }
}
