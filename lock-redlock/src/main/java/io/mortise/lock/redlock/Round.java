// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.RedisFailure;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.Reply;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * One attempt to acquire: all masters are asked at once, and it is done as soon as enough have answered. Where they gave
 * different counters, the highest is made known to a majority before it counts as the token (S3). Answers come on I/O threads.
 */
final class Round {
    /** The server's clock may have been set forward since it was last heard: one answer tells by how much. */
    private static final int MOST_TRIES = 2;

    private final RedlockBackend backend;
    private final LockRequest request;
    private final RedlockKeys.OfLock keys;
    private final List<Part> parts;
    private final Quorum quorum;
    private final Ballot ballot;
    private final CompletableFuture<Attempt> outcome = new CompletableFuture<>();
    private final long sent;
    private final String place;

    Round(RedlockBackend backend, LockRequest request, RedlockKeys.OfLock keys, List<Part> parts, String place) {
        this.backend = backend;
        this.request = request;
        this.keys = keys;
        this.parts = parts;
        this.quorum = backend.masters().quorum();
        this.ballot = new Ballot(quorum);
        this.sent = backend.context().clock().nanoTime();
        this.place = place;
    }

    CompletionStage<Attempt> start() {
        for (Part part : parts) {
            ask(part, MOST_TRIES);
        }
        return outcome;
    }

    private void ask(Part part, int tries) {
        Master.Greeted voting = part.master().voting();
        if (voting == null) {
            cast(part, part.master().abstains());
            return;
        }
        RedisNode node = voting.node();
        long now = backend.context().clock().nanoTime();
        long notAfter = node.notAfter(now);
        String[] args = args(part, voting, notAfter);
        part.touch();
        if (request.mayWait()) {
            part.standsInLine();
        }
        node.run(RedlockScript.ACQUIRE.script(), keys.all(), args, new Reply() {
            @Override
            public void answered(List<Object> values) {
                Round.this.answered(part, voting, now, values, tries);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (notExecuted) {
                    part.untouch();
                } else {
                    part.removal().unanswered(voting.epoch(), notAfter);
                }
                cast(part, new Vote.Failed(RedisFailure.of(cause, what(), node.endpoints())));
            }
        });
    }

    private String[] args(Part part, Master.Greeted voting, long notAfter) {
        String lease = String.valueOf(request.leaseDuration().toMillis());
        String inLine = part.isInLine() ? "1" : "0";
        String until = String.valueOf(notAfter);
        return request.mayWait()
                ? new String[] {
                    voting.run(),
                    keys.bucket(),
                    request.attemptId(),
                    backend.record(request),
                    lease,
                    until,
                    inLine,
                    voting.node().channel(),
                    place,
                    RedlockTicket.PLACE_STANDS_MILLIS
                }
                : new String[] {
                    voting.run(), keys.bucket(), request.attemptId(), backend.record(request), lease, until, inLine
                };
    }

    private void answered(Part part, Master.Greeted voting, long sentNanos, List<Object> values, int tries) {
        Object first = values.get(0);
        if (!voting.stands()) { // it answered on another connection, and may be another process
            cast(part, part.master().abstains());
        } else if (first instanceof Long counter) {
            cast(part, new Vote.Granted(counter));
        } else {
            switch ((String) first) {
                case "busy" -> {
                    heard(part, voting, sentNanos, (Long) values.get(4));
                    part.untouch();
                    cast(part, new Vote.Conflicted((String) values.get(2), (Long) values.get(1), (Long) values.get(3)));
                }
                case "late" -> {
                    heard(part, voting, sentNanos, (Long) values.get(1));
                    part.untouch();
                    if (tries > 1) {
                        ask(part, tries - 1);
                    } else {
                        cast(
                                part,
                                new Vote.Failed(new BackendUnavailableException(
                                        "it arrived too late each time, or the server's clock jumps")));
                    }
                }
                default -> {
                    part.untouch();
                    backend.masters().doubt(part.master(), voting);
                    cast(part, part.master().abstains());
                }
            }
        }
    }

    private static void heard(Part part, Master.Greeted voting, long sentNanos, long serverMicros) {
        voting.node().time().heard(sentNanos, serverMicros);
        part.removal().answered(voting.epoch(), serverMicros);
    }

    private void cast(Part part, Vote vote) {
        switch (ballot.cast(part.master().index(), vote)) {
            case OPEN -> {}
            case WON -> won();
            case BUSY -> {
                giveBack();
                outcome.complete(new Attempt.Waiting(Pause.before(
                        ballot.votes(),
                        ballot.holder().isPresent(),
                        quorum,
                        ThreadLocalRandom.current().nextDouble())));
            }
            case NO_QUORUM -> {
                giveBack();
                outcome.completeExceptionally(noQuorum());
            }
        }
    }

    private void won() {
        long token = ballot.token();
        if (ballot.isUnanimous()) {
            grant(token);
            return;
        }
        Poll poll = new Poll(quorum);
        List<Vote> votes = ballot.votes();
        List<Part> voters = new ArrayList<>();
        for (Part part : parts) {
            if (votes.get(part.master().index()) instanceof Vote.Granted) {
                voters.add(part);
            } else {
                raised(poll, Poll.Answer.NONE, token);
            }
        }
        voters.forEach(part -> raise(part, poll, token));
    }

    private void raise(Part part, Poll poll, long token) {
        Master.Greeted voting = part.master().voting();
        if (voting == null) {
            raised(poll, Poll.Answer.NONE, token);
            return;
        }
        String[] args = {voting.run(), keys.bucket(), request.attemptId(), String.valueOf(token)};
        voting.node().run(RedlockScript.RAISE.script(), keys.all(), args, new Reply() {
            @Override
            public void answered(List<Object> values) {
                boolean counts = voting.stands() && values.get(0) instanceof Long;
                raised(
                        poll,
                        !counts ? Poll.Answer.NONE : values.get(0).equals(1L) ? Poll.Answer.YES : Poll.Answer.NO,
                        token);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                raised(poll, Poll.Answer.NONE, token);
            }
        });
    }

    private void raised(Poll poll, Poll.Answer answer, long token) {
        switch (poll.answer(answer)) {
            case OPEN -> {}
            case CARRIED -> grant(token);
            case REFUSED, UNDECIDED -> fail("the majority was lost before all of it knew the token");
        }
    }

    private void grant(long token) {
        long validUntil = LockClock.deadline(sent, request.leaseDuration());
        if (backend.context().clock().nanoTime() - validUntil >= 0) {
            fail("it took longer than the lease");
            return;
        }
        outcome.complete(new Attempt.Granted(
                token,
                new RedlockLiveness(
                        backend.context().clock(), keys, request.attemptId(), request.leaseDuration(), validUntil)));
    }

    /** Others have seen a majority of ours and wait for its end: they are woken. */
    private void fail(String why) {
        for (Part part : parts) {
            if (part.isTouched()) {
                part.removal().release(found -> {}, failure -> {});
            }
        }
        outcome.completeExceptionally(new BackendUnavailableException(what() + ": " + why));
    }

    /** What was granted, or may have been, stands in nobody's way. One that does not wait is withdrawn by its ticket. */
    private void giveBack() {
        if (!request.mayWait()) {
            return;
        }
        List<Vote> votes = ballot.votes();
        for (Part part : parts) {
            Vote vote = votes.get(part.master().index());
            if (part.isTouched() && !(vote instanceof Vote.Conflicted)) {
                part.master().node().run(RedlockScript.YIELD.script(), keys.all(), yielding(part), new Reply() {
                    @Override
                    public void answered(List<Object> values) {}

                    @Override
                    public void failed(
                            Throwable cause, boolean notExecuted) {} // its ticket's end removes it, or its time
                });
            }
        }
    }

    private String[] yielding(Part part) {
        return new String[] {
            request.attemptId(),
            backend.record(request),
            String.valueOf(request.leaseDuration().toMillis()),
            part.master().node().channel(),
            place,
            RedlockTicket.PLACE_STANDS_MILLIS
        };
    }

    private LockException noQuorum() {
        RedlockSummary summary = summary();
        long left = quorum.nodes() - summary.count(RedlockSummary.Vote.FAILED); // they may yet answer
        String failed = summary.masters().stream()
                .filter(master -> master.error().isPresent())
                .map(master -> master.endpoint() + " (" + master.error().orElseThrow() + ")")
                .collect(Collectors.joining("; "));
        List<Throwable> refusals = new ArrayList<>();
        for (Vote vote : ballot.votes()) {
            if (vote instanceof Vote.Failed failure && failure.cause() instanceof BackendRefusedException) {
                refusals.add(failure.cause());
            }
        }
        String message = what() + ": no quorum: at most " + left + " of " + quorum.nodes()
                + " masters answer, these do not: " + failed;
        return refusals.size() > quorum.spare()
                ? new BackendRefusedException(message, refusals.get(0))
                : new BackendUnavailableException(message);
    }

    /** As far as they have answered. */
    RedlockSummary summary() {
        List<Vote> votes = ballot.votes();
        return new RedlockSummary(parts.stream()
                .map(part -> instance(part, votes.get(part.master().index())))
                .toList());
    }

    private static RedlockSummary.Instance instance(Part part, Vote vote) {
        String endpoint = part.master().endpoint();
        if (vote instanceof Vote.Failed failure) {
            return new RedlockSummary.Instance(
                    endpoint,
                    RedlockSummary.Vote.FAILED,
                    Optional.of(String.valueOf(failure.cause().getMessage())));
        }
        RedlockSummary.Vote said = vote instanceof Vote.Granted
                ? RedlockSummary.Vote.ACQUIRED
                : vote instanceof Vote.Conflicted ? RedlockSummary.Vote.CONFLICTED : RedlockSummary.Vote.PENDING;
        return new RedlockSummary.Instance(endpoint, said, Optional.empty());
    }

    private String what() {
        return "acquire of lock \"" + request.name() + "\"";
    }
}
