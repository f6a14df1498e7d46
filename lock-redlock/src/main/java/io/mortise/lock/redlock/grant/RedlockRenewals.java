// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.script.ReplyHandler;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.MasterQuarantine;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.master.RedlockMasters;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.redlock.vote.YesNoTally;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Renews many grants at all masters with few batched requests.
 *
 * <p>A renewal succeeds if a majority still has the grant. Only then are the votes recovered that the grant has lost at other
 * masters; recovered votes count from the next renewal on.
 */
public final class RedlockRenewals {
    /** Maximum number of grants per script, since a script blocks the server: this many take well below a millisecond. */
    private static final int BATCH_SIZE = 250;

    private final RedlockMasters masters;
    private final MasterQuarantine quarantine;
    private final LockClock clock;

    public RedlockRenewals(RedlockMasters masters, MasterQuarantine quarantine, LockClock clock) {
        this.masters = masters;
        this.quarantine = quarantine;
        this.clock = clock;
    }

    /** Renewal of one grant in a batch. */
    private static final class GrantRenewal {
        private final RedlockGrantValidity grant;
        private final YesNoTally kept;
        private final Queue<RedlockMaster> lostVotes = new ConcurrentLinkedQueue<>();
        private volatile boolean succeeded;

        GrantRenewal(RedlockGrantValidity grant, Quorum quorum) {
            this.grant = grant;
            this.kept = new YesNoTally(quorum);
        }

        /** Recovers the lost votes found so far. Called after the decisive reply and after each later reply. */
        void recoverLostVotes() {
            while (succeeded) {
                RedlockMaster master = lostVotes.poll();
                if (master == null) {
                    return;
                }
                grant.contender().recoverVote(master.index());
            }
        }
    }

    /** Sends the renewals of all these grants, and reports each result to its {@link GrantValidity}. */
    public void renew(List<GrantValidity> due) {
        List<GrantRenewal> all = GrantValidity.cast(due, RedlockGrantValidity.class).stream()
                .map(grant -> new GrantRenewal(grant, masters.quorum()))
                .toList();
        for (int from = 0; from < all.size(); from += BATCH_SIZE) {
            List<GrantRenewal> batch = all.subList(from, Math.min(all.size(), from + BATCH_SIZE));
            MonotonicInstant sent = clock.now();
            for (RedlockMaster master : masters.all()) {
                renew(master, batch, sent);
            }
        }
    }

    private void renew(RedlockMaster master, List<GrantRenewal> batch, MonotonicInstant sent) {
        MasterHandshakeReply voting = master.voting();
        if (voting == null) {
            batch.forEach(renewal -> addAnswer(renewal, master, YesNoTally.Answer.NONE, sent));
            return;
        }
        String[] keys = new String[1 + batch.size()];
        String[] args = new String[1 + 3 * batch.size()];
        keys[0] = batch.get(0).grant.keys().state();
        args[0] = voting.runId();
        for (int i = 0; i < batch.size(); i++) {
            RedlockGrantValidity grant = batch.get(i).grant;
            keys[1 + i] = grant.keys().grant();
            args[1 + 3 * i] = grant.attemptId();
            args[2 + 3 * i] = String.valueOf(grant.round());
            args[3 + 3 * i] = String.valueOf(grant.leaseDuration().toMillis());
        }
        voting.node().run(RedlockScript.RENEW.script(), keys, args, new ReplyHandler() {
            @Override
            public void onReply(List<Object> values) {
                boolean counts = values.get(0) instanceof Long && voting.isCurrent();
                if (values.get(0) instanceof String) {
                    quarantine.enterQuarantine(master, voting);
                }
                for (int i = 0; i < batch.size(); i++) {
                    YesNoTally.Answer answer = !counts
                            ? YesNoTally.Answer.NONE
                            : values.get(i).equals(1L) ? YesNoTally.Answer.YES : YesNoTally.Answer.NO;
                    addAnswer(batch.get(i), master, answer, sent);
                }
            }

            @Override
            public void onFailure(Throwable cause, boolean notExecuted) {
                batch.forEach(renewal -> addAnswer(renewal, master, YesNoTally.Answer.NONE, sent));
            }
        });
    }

    private void addAnswer(
            GrantRenewal renewal, RedlockMaster master, YesNoTally.Answer answer, MonotonicInstant sent) {
        RedlockGrantValidity grant = renewal.grant;
        if (answer == YesNoTally.Answer.YES) {
            grant.contender().voteSeen(master.index(), sent);
        } else if (answer == YesNoTally.Answer.NO && grant.contender().voteMissing(master.index())) {
            renewal.lostVotes.add(master);
        }
        switch (renewal.kept.add(answer)) {
            case OPEN -> {}
            case ACCEPTED -> renewal.succeeded = grant.extend(LockClock.deadline(sent, grant.leaseDuration()));
            case REJECTED ->
                grant.removed("its key is missing on so many masters that no majority still has the grant");
            case UNDECIDED ->
                grant.renewalUnknown(new BackendUnavailableException("renewal: no quorum, " + renewal.kept.yes()
                        + " of " + masters.quorum().masters() + " masters still have the grant"));
        }
        renewal.recoverLostVotes();
    }
}
