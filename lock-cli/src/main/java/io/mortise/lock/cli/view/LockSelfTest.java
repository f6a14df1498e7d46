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

/** Acquires, renews and releases locks of its own names for {@code doctor}. */
final class LockSelfTest {
    private static final int WARM_UP = 5;
    private static final int ROUNDS = 21;
    private static final Duration MOST_WAIT = Duration.ofSeconds(10);

    private LockSelfTest() {}

    /** Of so many questions, in nanoseconds. */
    record Times(int count, long median, long slowest) {}

    /** Each reads the status of a lock that nobody holds: one round trip on every backend. */
    static Times roundTrips(LockAdmin admin) throws InterruptedException {
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
        return new Times(ROUNDS, nanos[ROUNDS / 2], nanos[ROUNDS - 1]);
    }

    /** Whether this user can, by doing it: what is wrong if it cannot. */
    static Optional<Finding> takesALock(LockClient client) throws InterruptedException {
        try {
            Optional<Lease> lease = client.named(name()).tryAcquire(MOST_WAIT);
            if (lease.isEmpty()) {
                return Optional.of(
                        failed("a lock that nobody uses could not be taken in " + MOST_WAIT.toSeconds() + " s"));
            }
            ReleaseOutcome outcome = lease.get().release();
            return outcome == ReleaseOutcome.RELEASED
                    ? Optional.empty()
                    : Optional.of(failed("a lock could not be released: " + outcome));
        } catch (LockException e) {
            return Optional.of(failed("no lock can be taken: " + e.getMessage()));
        }
    }

    private static Finding failed(String what) {
        return new Finding(
                Severity.ERROR,
                what,
                "see the other findings, and what this user may do in the store; -v shows the log");
    }

    private static String name() {
        return "lockctl-doctor/" + UUID.randomUUID();
    }

    static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
    }
}
