// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.grant.RedlockContenderEvent.Recovered;
import io.mortise.lock.redlock.master.MasterHandshakeReply;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.spi.MonotonicInstant;
import java.util.List;
import java.util.function.Consumer;

/** Handles the outcome of a request that recovers a lost vote at one master. */
final class RecoveryReplyHandler extends VoteReplyHandler {
    private final Consumer<MonotonicInstant> voteRecovered;

    /** @param voteRecovered receives when the request was sent, if the master has voted again */
    RecoveryReplyHandler(
            ContenderServices services,
            Consumer<RedlockContenderEvent> events,
            RedlockMaster master,
            MasterHandshakeReply voting,
            Consumer<MonotonicInstant> voteRecovered) {
        super(services, events, master, voting);
        this.voteRecovered = voteRecovered;
    }

    @Override
    public void onReply(List<Object> reply) {
        master.health().replyReceived();
        if (reply.get(0).equals("quarantined")) {
            services.quarantine().enterQuarantine(master, voting);
        } else if (reply.get(0).equals(1L)) {
            voteRecovered.accept(sent);
        }
        events.accept(new Recovered(master.index(), execution(reply)));
    }

    @Override
    public void onFailure(Throwable cause, boolean notExecuted) {
        events.accept(new Recovered(master.index(), unanswered(notExecuted)));
    }
}
