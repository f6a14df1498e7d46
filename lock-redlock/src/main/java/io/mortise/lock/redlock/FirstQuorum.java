// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks again and again whether a client that opens is to wait on for a majority that votes, and says once for how long. */
final class FirstQuorum {
    private static final Logger log = LoggerFactory.getLogger(FirstQuorum.class);

    private static final Duration LOOK_AGAIN = Duration.ofMillis(200);

    private final Masters masters;
    private final RedlockOptions options;
    private final BackendContext context;
    private final long startNanos;
    private final QuorumWait wait; // one look at a time

    FirstQuorum(Masters masters, RedlockOptions options, BackendContext context) {
        this.masters = masters;
        this.options = options;
        this.context = context;
        this.startNanos = context.clock().nanoTime();
        this.wait = new QuorumWait(context.connectTimeout(), options.maxLease(), startNanos);
    }

    void start() {
        if (options.isTestOnlyNewMasters()) {
            log.warn(
                    "event=test-only-new-masters endpoints={} what=\"masters without data are taken for new ones: if they have"
                            + " lost their data, two clients can hold one lock; never use testOnlyNewMasters in production\"",
                    options);
        }
        context.clock().schedule(LOOK_AGAIN, this::look);
    }

    Duration longest() {
        return wait.longest();
    }

    private void look() {
        if (masters.ready().isDone()) {
            return;
        }
        Optional<Duration> quorumIn = masters.quorumIn();
        switch (wait.at(context.clock().nanoTime(), quorumIn)) {
            case GIVE_UP -> {
                masters.ready().completeExceptionally(new BackendUnavailableException(inVain()));
                return;
            }
            case SAY_AND_WAIT ->
                log.info(
                        "event=waiting-for-masters endpoints={} ms={} what=\"they are new, were restarted or have lost their"
                                + " data: until then they may have forgotten a lease\"",
                        options,
                        quorumIn.orElseThrow().toMillis());
            case WAIT -> {}
        }
        context.clock().schedule(LOOK_AGAIN, this::look);
    }

    String inVain() {
        return "no quorum at " + options + " in " + (context.clock().nanoTime() - startNanos) / 1_000_000 + " ms: "
                + masters.all().stream()
                        .map(master -> master.endpoint() + ": " + (master.voting() == null ? master.why() : "votes"))
                        .collect(Collectors.joining("; "));
    }
}
