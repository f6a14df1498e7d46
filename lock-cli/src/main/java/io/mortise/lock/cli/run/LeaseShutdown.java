// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Releases the lease and closes the client, with a short timeout if the lock was lost. Without that timeout, lockctl would wait
 * for an unresponsive store for longer than the store keeps the lock.
 */
final class LeaseShutdown implements AutoCloseable {
    private static final Duration BRIEF_TIMEOUT = Duration.ofMillis(500);

    private final LockClient client;
    private boolean brief;

    LeaseShutdown(LockClient client) {
        this.client = client;
    }

    LockClient client() {
        return client;
    }

    /** Limits each further step to a short time. */
    void limitTime() {
        brief = true;
    }

    ReleaseOutcome release(Lease lease) throws InterruptedException {
        if (!brief) {
            return lease.release();
        }
        try {
            return lease.releaseAsync().get(BRIEF_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            return ReleaseOutcome.UNKNOWN;
        }
    }

    @Override
    public void close() throws InterruptedException {
        if (!brief) {
            client.close();
            return;
        }
        Thread closing = new Thread(client::close, "lockctl-close");
        closing.setDaemon(true);
        closing.start();
        closing.join(BRIEF_TIMEOUT.toMillis());
    }
}
