// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ReplyHandler;
import java.util.List;

/**
 * Takes votes again that one grant has lost, while a majority has kept it without a gap: nobody else can have had one since. Never
 * after its release has begun; one that is executed after that is taken away as any other request that comes late.
 */
final class Regain {
    private final RedlockContender contender;
    private final List<Part> parts;
    private final KeptVotes votes;
    private final long token;

    Regain(RedlockContender contender, List<Part> parts, KeptVotes votes, long token) {
        this.contender = contender;
        this.parts = parts;
        this.votes = votes;
        this.token = token;
    }

    /** A renewal that was sent then found it there. */
    void kept(Master master, long sentNanos) {
        votes.kept(master.index(), sentNanos);
    }

    /** A renewal found it gone there. Returns whether it is to be taken again, once that renewal is known to have succeeded. */
    boolean isWanted(Master master) {
        return votes.gone(master.index(), contender.nanoTime());
    }

    /** Asks that master, where the key is free. The next renewal tells whether it is there. */
    void at(Master master) {
        Master.Greeted voting = master.electable();
        if (voting == null || contender.isEnded()) {
            return;
        }
        Part part = parts.get(master.index());
        RedisNode node = voting.node();
        long now = contender.nanoTime();
        long notAfter = node.notAfter(now);
        part.footprint().asking(false);
        String[] args = contender.regaining(voting, notAfter, token);
        node.run(RedlockScript.REGAIN.script(), contender.keys().all(), args, new ReplyHandler() {
            @Override
            public void answered(List<Object> values) {
                master.pace().answered();
                part.footprint().answered();
                if (values.get(0).equals("late")) {
                    Round.heard(part, voting, now, (Long) values.get(1));
                } else if (values.get(0) instanceof String) {
                    contender.doubt(master, voting);
                } else if (values.get(0).equals(1L)) {
                    votes.kept(master.index(), now);
                }
                over(part);
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                if (!notExecuted) {
                    part.removal().unanswered(voting.epoch(), notAfter);
                    contender.unanswered(master, voting, now);
                }
                part.footprint().answered();
                over(part);
            }
        });
    }

    /** A release that began meanwhile may have come there before it. */
    private void over(Part part) {
        if (contender.isEnded()) {
            contender.settle(part);
        }
    }
}
