// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The end of a contender: all masters are told at once, and it is done when a majority has answered. The others are settled in the
 * background.
 */
final class Withdrawal {
    private static final Duration AGAIN = Duration.ofMillis(50);

    private final RedlockContender contender;
    private final List<Part> parts;
    private final BackendContext context;
    private final String what;
    private final Quorum quorum;
    private final Poll poll;
    private final long patience;
    private final Queue<String> silent = new ConcurrentLinkedQueue<>();
    private final CompletableFuture<Boolean> ended = new CompletableFuture<>();

    Withdrawal(RedlockContender contender, List<Part> parts, BackendContext context, String what) {
        this.contender = contender;
        this.parts = parts;
        this.context = context;
        this.what = what;
        this.quorum = new Quorum(parts.size());
        this.poll = new Poll(quorum);
        this.patience = context.clock().nanoTime()
                + context.requestTimeout()
                        .minus(parts.get(0).master().node().requestTimeout())
                        .minus(AGAIN)
                        .toNanos();
    }

    /** True: the lock was ours on a majority, as far as anybody knows. False: it was not. Failed: no majority answered. */
    CompletionStage<Boolean> begin() {
        for (Part part : parts) {
            if (part.isTouched()) {
                end(part, Poll.Answer.NO);
            } else {
                answered(Poll.Answer.NO);
            }
        }
        return ended;
    }

    /**
     * While no majority has answered, one that has not is asked again: there is more time than one master gets.
     *
     * @param gone what it means if nothing is there: asked again, it may be our own doing
     */
    private void end(Part part, Poll.Answer gone) {
        part.removal()
                .release(
                        found -> {
                            if (!found.settled()) {
                                contender.settle(part); // a request without an answer may yet be executed
                            }
                            if (!found.held() && gone == Poll.Answer.NONE) {
                                silent(part, "it has nothing any more");
                            }
                            answered(found.held() ? Poll.Answer.YES : gone);
                        },
                        failure -> {
                            if (ended.isDone() || context.clock().nanoTime() - patience >= 0) {
                                contender.settle(part);
                                silent(part, String.valueOf(failure.getMessage()));
                                answered(Poll.Answer.NONE);
                            } else {
                                context.clock().schedule(AGAIN, () -> end(part, Poll.Answer.NONE));
                            }
                        });
    }

    private void answered(Poll.Answer answer) {
        switch (poll.answer(answer)) {
            case OPEN -> {}
            case CARRIED -> ended.complete(true);
            case REFUSED -> ended.complete(false);
            case UNDECIDED -> {
                int answers = poll.yes() + poll.no();
                if (answers >= quorum.majority()) {
                    ended.complete(poll.yes() > 0);
                } else {
                    ended.completeExceptionally(new BackendUnavailableException(
                            what + ": " + RedlockSummary.withoutQuorum(answers, quorum.nodes(), silent)));
                }
            }
        }
    }

    private void silent(Part part, String why) {
        silent.add(RedlockSummary.silent(part.master().endpoint(), why));
    }
}
