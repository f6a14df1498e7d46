// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits, while a client connects, until most masters are able to vote or {@link ConnectWaitPolicy} gives up. */
public final class ConnectMajorityWait {
    private static final Logger log = LoggerFactory.getLogger(ConnectMajorityWait.class);

    private static final Duration CHECK_INTERVAL = Duration.ofMillis(200);

    private final RedlockMasters masters;
    private final String endpoints;
    private final BackendContext context;
    private final MonotonicInstant start;
    private final ConnectWaitPolicy policy; // checks do not overlap

    public ConnectMajorityWait(RedlockMasters masters, String endpoints, Duration maxLease, BackendContext context) {
        this.masters = masters;
        this.endpoints = endpoints;
        this.context = context;
        this.start = context.clock().now();
        this.policy = new ConnectWaitPolicy(context.connectTimeout(), maxLease, start);
    }

    /** Schedules the first check. */
    public void start() {
        context.clock().schedule(CHECK_INTERVAL, this::check);
    }

    /** Returns the time after which the client gives up in any case. */
    public Duration longest() {
        return policy.longest();
    }

    private void check() {
        if (masters.majorityVotes().isDone()) {
            return;
        }
        Optional<Duration> majorityIn = masters.majorityIn();
        switch (policy.decide(context.clock().now(), majorityIn)) {
            case GIVE_UP -> {
                masters.majorityVotes().completeExceptionally(new BackendUnavailableException(failureMessage()));
                return;
            }
            case LOG_AND_WAIT ->
                log.info(
                        "event=waiting-for-masters endpoints={} ms={} what=\"masters that are new, were restarted or have lost"
                                + " their data stay in quarantine for this time, since they may have forgotten a lease\"",
                        endpoints,
                        majorityIn.orElseThrow().toMillis());
            case WAIT -> {}
        }
        context.clock().schedule(CHECK_INTERVAL, this::check);
    }

    /** Returns the error message for the case that no majority votes in time, with the state of each master. */
    public String failureMessage() {
        return "no quorum at " + endpoints + " in "
                + context.clock().since(start).toMillis() + " ms: "
                + masters.all().stream()
                        .map(master ->
                                master.endpoint() + ": " + (master.voting() == null ? master.whyNotVoting() : "votes"))
                        .collect(Collectors.joining("; "));
    }
}
