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
 * The workload of one thread, which acquires a lock, checks the lease, writes and releases in a loop.
 *
 * <p>If the store is unreachable, one acquire fails and the loop continues. Not thread-safe.
 */
public final class RecordedAcquireLoop {
    private static final int LONG_HOLD_NANOS = 30_000_000;
    private static final int SHORT_HOLD_NANOS = 1_000_000;
    private static final int CHECK_INTERVAL_NANOS = 2_000_000;

    private final RecordingLock lock;
    private final ProtectedResource resource;
    private final Random random;

    /**
     * Creates a workload.
     *
     * @param seed determines which calls have a time limit and how long a lease is held
     */
    public RecordedAcquireLoop(RecordingLock lock, ProtectedResource resource, long seed) {
        this.lock = lock;
        this.resource = resource;
        this.random = new Random(seed);
    }

    /**
     * Runs cycles until {@code end} is true between two of them.
     *
     * @param keep while true, a lease is kept until it is lost, so that a fault affects a holder; the write follows, too late
     * @return the number of leases that were granted
     * @throws ClientClosedException if the client is closed meanwhile
     */
    public int until(BooleanSupplier end, BooleanSupplier keep) throws InterruptedException {
        int leases = 0;
        while (!end.getAsBoolean()) {
            try {
                Optional<RecordingLease> lease = acquire();
                if (lease.isPresent()) {
                    work(lease.get(), keep);
                    leases++;
                }
            } catch (ClientClosedException e) {
                throw e;
            } catch (LockException e) {
                LockSupport.parkNanos(
                        LONG_HOLD_NANOS); // the failure is recorded; the store may be unreachable for longer
            }
        }
        return leases;
    }

    private Optional<RecordingLease> acquire() throws InterruptedException {
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
                LockSupport.parkNanos(CHECK_INTERVAL_NANOS);
            }
            lease.write(resource); // rejected if the lease was lost and another token was used since
            lease.checkHeld();
        }
        lease.release();
        pause();
    }

    private void pause() {
        LockSupport.parkNanos(random.nextInt(random.nextInt(20) == 0 ? LONG_HOLD_NANOS : SHORT_HOLD_NANOS));
    }
}
