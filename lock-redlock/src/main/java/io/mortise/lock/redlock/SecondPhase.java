// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.ReplyHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * From a majority of votes to a token. Where they came with different counters, the highest is made known to a majority on
 * which the lock is still ours; before that the next grant could get a lower one (S3).
 */
final class SecondPhase {
    private final RedlockContender contender;
    private final List<Part> parts;
    private final Ballot ballot;
    private final long token;
    private final LongConsumer granted;
    private final Consumer<String> failed;
    private final Poll poll;

    /** @param ballot that was won; one of the two is told */
    SecondPhase(
            RedlockContender contender,
            List<Part> parts,
            Ballot ballot,
            LongConsumer granted,
            Consumer<String> failed) {
        this.contender = contender;
        this.parts = parts;
        this.ballot = ballot;
        this.token = ballot.token();
        this.granted = granted;
        this.failed = failed;
        this.poll = new Poll(new Quorum(parts.size()));
    }

    void begin() {
        if (ballot.isUnanimous()) {
            granted.accept(token);
            return;
        }
        List<Vote> votes = ballot.votes();
        List<Part> voters = new ArrayList<>();
        for (Part part : parts) {
            if (votes.get(part.master().index()) instanceof Vote.Granted) {
                voters.add(part);
            } else {
                answered(Poll.Answer.NONE);
            }
        }
        voters.forEach(this::raise);
    }

    private void raise(Part part) {
        Master.Greeted voting = part.master().voting();
        if (voting == null) {
            answered(Poll.Answer.NONE);
            return;
        }
        String[] args = contender.raising(voting, token);
        voting.node().run(RedlockScript.RAISE.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                boolean counts = voting.stands() && values.get(0) instanceof Long;
                SecondPhase.this.answered(
                        !counts ? Poll.Answer.NONE : values.get(0).equals(1L) ? Poll.Answer.YES : Poll.Answer.NO);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                SecondPhase.this.answered(Poll.Answer.NONE);
            }
        });
    }

    private void answered(Poll.Answer answer) {
        switch (poll.answer(answer)) {
            case OPEN -> {}
            case CARRIED -> granted.accept(token);
            case REFUSED, UNDECIDED -> failed.accept("the majority was lost before all of it knew the token");
        }
    }
}
