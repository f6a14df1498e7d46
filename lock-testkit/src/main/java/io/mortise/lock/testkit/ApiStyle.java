// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The two styles of the lock API, blocking and asynchronous, as a parameter of the contract tests. */
enum ApiStyle {
    SYNC {
        @Override
        Lease acquire(DistributedLock lock) throws InterruptedException {
            return lock.acquire();
        }

        @Override
        Optional<Lease> tryAcquire(DistributedLock lock, Duration maxWait) throws InterruptedException {
            return lock.tryAcquire(maxWait);
        }

        @Override
        ReleaseOutcome release(Lease lease) {
            return lease.release();
        }

        @Override
        ReleaseOutcome releaseAfter(Lease lease, Duration delay) {
            return lease.releaseAfter(delay);
        }
    },
    ASYNC {
        @Override
        Lease acquire(DistributedLock lock) throws InterruptedException {
            return result(lock.acquireAsync());
        }

        @Override
        Optional<Lease> tryAcquire(DistributedLock lock, Duration maxWait) throws InterruptedException {
            return result(lock.tryAcquireAsync(maxWait));
        }

        @Override
        ReleaseOutcome release(Lease lease) throws InterruptedException {
            return result(lease.releaseAsync());
        }

        @Override
        ReleaseOutcome releaseAfter(Lease lease, Duration delay) throws InterruptedException {
            return result(lease.releaseAfterAsync(delay));
        }
    };

    abstract Lease acquire(DistributedLock lock) throws InterruptedException;

    abstract Optional<Lease> tryAcquire(DistributedLock lock, Duration maxWait) throws InterruptedException;

    abstract ReleaseOutcome release(Lease lease) throws InterruptedException;

    abstract ReleaseOutcome releaseAfter(Lease lease, Duration delay) throws InterruptedException;

    /** Waits for all results; otherwise as {@link #result}. */
    static void awaitAll(Collection<? extends Future<?>> futures) throws InterruptedException {
        for (Future<?> future : futures) {
            result(future);
        }
    }

    /**
     * Returns the result, or throws the exception that the blocking style would have thrown. An interrupt cancels the future,
     * as it cancels a blocking call.
     */
    static <T> T result(Future<T> future) throws InterruptedException {
        try {
            return future.get(ContractTestFixture.LONG.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            future.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (e.getCause() instanceof Error cause) { // an assertion in another thread of the test
                throw cause;
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            future.cancel(true);
            throw new NoOutcomeError(ContractTestFixture.LONG, e);
        }
    }
}
