// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.ReplyHandler;
import io.mortise.lock.spi.KeepAlive;
import io.mortise.lock.spi.LockClock;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Renews many grants by few requests to each master. A grant lives on if a majority has it still; after that, and only then, the
 * votes are taken again that it has lost elsewhere. They count from the next renewal on.
 */
final class Renewals {
    /** A script stops the server for all others: so many take it well below a millisecond. */
    private static final int CHUNK = 250;

    private final Masters masters;
    private final Admissions admissions;
    private final LockClock clock;

    Renewals(Masters masters, Admissions admissions, LockClock clock) {
        this.masters = masters;
        this.admissions = admissions;
        this.clock = clock;
    }

    /** One grant of a chunk. */
    private static final class Asked {
        private final RedlockKeepAlive keepAlive;
        private final Poll poll;
        private final Queue<Master> lost = new ConcurrentLinkedQueue<>();
        private volatile boolean carried;

        Asked(RedlockKeepAlive keepAlive, Quorum quorum) {
            this.keepAlive = keepAlive;
            this.poll = new Poll(quorum);
        }

        /** By the answer that decides, and by each that comes after it. */
        void regain() {
            while (carried) {
                Master master = lost.poll();
                if (master == null) {
                    return;
                }
                keepAlive.regain().at(master);
            }
        }
    }

    void renew(List<KeepAlive> due) {
        for (int from = 0; from < due.size(); from += CHUNK) {
            List<Asked> chunk = new ArrayList<>();
            for (KeepAlive keepAlive : due.subList(from, Math.min(due.size(), from + CHUNK))) {
                chunk.add(new Asked((RedlockKeepAlive) keepAlive, masters.quorum()));
            }
            long sent = clock.nanoTime();
            for (Master master : masters.all()) {
                renew(master, chunk, sent);
            }
        }
    }

    private void renew(Master master, List<Asked> chunk, long sent) {
        Master.Greeted voting = master.voting();
        if (voting == null) {
            chunk.forEach(asked -> answered(asked, master, Poll.Answer.NONE, sent));
            return;
        }
        String[] keys = new String[1 + chunk.size()];
        String[] args = new String[1 + 2 * chunk.size()];
        keys[0] = chunk.get(0).keepAlive.keys().state();
        args[0] = voting.run();
        for (int i = 0; i < chunk.size(); i++) {
            RedlockKeepAlive mine = chunk.get(i).keepAlive;
            keys[1 + i] = mine.keys().grant();
            args[1 + 2 * i] = mine.attemptId();
            args[2 + 2 * i] = String.valueOf(mine.lease().toMillis());
        }
        voting.node().run(RedlockScript.RENEW.script(), keys, args, new ReplyHandler() {
            @Override
            public void answered(List<Object> answer) {
                boolean counts = answer.get(0) instanceof Long && voting.stands();
                if (answer.get(0) instanceof String) {
                    admissions.doubt(master, voting);
                }
                for (int i = 0; i < chunk.size(); i++) {
                    Poll.Answer said =
                            !counts ? Poll.Answer.NONE : answer.get(i).equals(1L) ? Poll.Answer.YES : Poll.Answer.NO;
                    Renewals.this.answered(chunk.get(i), master, said, sent);
                }
            }

            @Override
            public void failed(Throwable cause, boolean notExecuted) {
                chunk.forEach(asked -> Renewals.this.answered(asked, master, Poll.Answer.NONE, sent));
            }
        });
    }

    private void answered(Asked asked, Master master, Poll.Answer answer, long sent) {
        RedlockKeepAlive mine = asked.keepAlive;
        if (answer == Poll.Answer.YES) {
            mine.regain().kept(master, sent);
        } else if (answer == Poll.Answer.NO && mine.regain().isWanted(master)) {
            asked.lost.add(master);
        }
        switch (asked.poll.answer(answer)) {
            case OPEN -> {}
            case CARRIED -> asked.carried = mine.extend(LockClock.deadline(sent, mine.lease()));
            case REFUSED -> mine.removed("its key is gone on so many masters that no majority is left");
            case UNDECIDED ->
                mine.unknown(new BackendUnavailableException("renewal: no quorum, " + asked.poll.yes() + " of "
                        + masters.quorum().nodes() + " masters have it still"));
        }
        asked.regain();
    }
}
