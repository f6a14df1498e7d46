// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Work of one thread in a history: acquire, check, write, check, release, in a loop. A store out of reach ends an ask, not the
 * work. Not thread-safe.
 */
public final class HistoryWorkload {
    private static final int LONG_HOLD_NANOS = 30_000_000;
    private static final int SHORT_HOLD_NANOS = 1_000_000;
    private static final int KEPT_LOOK_NANOS = 2_000_000;

    private final RecordingLock lock;
    private final ProtectedResource resource;
    private final Random random;

    /** @param seed decides which asks have a limit and how long a lease is held */
    public HistoryWorkload(RecordingLock lock, ProtectedResource resource, long seed) {
        this.lock = lock;
        this.resource = resource;
        this.random = new Random(seed);
    }

    /**
     * Works until the condition holds between two cycles.
     *
     * @param keep while it holds, a lease is not released before it is lost: so that a fault meets a holder. The write comes
     *     after that, too late
     * @return how many leases it had
     * @throws ClientClosedException if the client was closed meanwhile
     */
    public int until(BooleanSupplier end, BooleanSupplier keep) throws InterruptedException {
        int leases = 0;
        while (!end.getAsBoolean()) {
            try {
                Optional<RecordingLease> lease = ask();
                if (lease.isPresent()) {
                    work(lease.get(), keep);
                    leases++;
                }
            } catch (ClientClosedException e) {
                throw e;
            } catch (LockException e) {
                LockSupport.parkNanos(LONG_HOLD_NANOS); // recorded; the store may be out of reach for longer
            }
        }
        return leases;
    }

    private Optional<RecordingLease> ask() throws InterruptedException {
        return switch (random.nextInt(8)) {
            case 0 -> lock.tryAcquire(Duration.ZERO);
            case 1, 2 -> lock.tryAcquire(Duration.ofMillis(1 + random.nextInt(300)));
            default -> Optional.of(lock.acquire());
        };
    }

    private void work(RecordingLease lease, BooleanSupplier keep) throws InterruptedException {
        if (lease.checkHeld()) {
            pause();
            while (keep.getAsBoolean() && lease.checkHeld()) {
                LockSupport.parkNanos(KEPT_LOOK_NANOS);
            }
            lease.write(resource); // refused if the lock was lost since: that is what the token is for
            lease.checkHeld();
        }
        lease.release();
        pause();
    }

    private void pause() {
        LockSupport.parkNanos(random.nextInt(random.nextInt(20) == 0 ? LONG_HOLD_NANOS : SHORT_HOLD_NANOS));
    }
}
