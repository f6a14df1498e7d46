// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** Measures round trips and acquires a test lock for {@code lockctl doctor}. */
final class LockSelfTest {
    private static final int WARM_UP = 5;
    private static final int ROUNDS = 21;
    private static final Duration MAX_WAIT = Duration.ofSeconds(10);

    private LockSelfTest() {}

    /** The times of a number of round trips, in nanoseconds. */
    record RoundTrips(int count, long median, long slowest) {}

    /** Reads the status of a free lock several times, which takes one round trip each on every backend. */
    static RoundTrips measureRoundTrips(LockAdmin admin) throws InterruptedException {
        String name = name();
        long[] nanos = new long[ROUNDS];
        for (int i = -WARM_UP; i < ROUNDS; i++) {
            long sent = System.nanoTime();
            AdminCommand.await(admin.status(name));
            if (i >= 0) {
                nanos[i] = System.nanoTime() - sent;
            }
        }
        Arrays.sort(nanos);
        return new RoundTrips(ROUNDS, nanos[ROUNDS / 2], nanos[ROUNDS - 1]);
    }

    /** Acquires and releases a lock with an unused name; returns a finding if that fails. */
    static Optional<Finding> tryLock(LockClient client) throws InterruptedException {
        try {
            Optional<Lease> lease = client.named(name()).tryAcquire(MAX_WAIT);
            if (lease.isEmpty()) {
                return Optional.of(
                        failed("an unused lock could not be acquired within " + MAX_WAIT.toSeconds() + " s"));
            }
            ReleaseOutcome outcome = lease.get().release();
            return outcome == ReleaseOutcome.RELEASED
                    ? Optional.empty()
                    : Optional.of(failed("a lock could not be released: " + outcome));
        } catch (LockException e) {
            return Optional.of(failed("no lock can be acquired: " + e.getMessage()));
        }
    }

    private static Finding failed(String what) {
        return new Finding(
                Severity.ERROR,
                what,
                "see the other findings, and check the permissions of this user in the store; -v shows the log");
    }

    private static String name() {
        return "lockctl-doctor/" + UUID.randomUUID();
    }

    static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
    }
}
