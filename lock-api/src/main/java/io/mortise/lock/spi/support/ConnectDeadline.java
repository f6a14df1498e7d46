// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats the first connection until it succeeds or the connect timeout has passed, and words the failure (S15). The time counts
 * from when this is made. Thread-safe.
 */
public final class ConnectDeadline {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String endpoints;
    private final Supplier<String> inVain;
    private final long until;

    /** What the latest try that had an end failed with. */
    private volatile @Nullable String failed;

    private ConnectDeadline(String endpoints, Supplier<String> inVain, long until) {
        this.endpoints = endpoints;
        this.inVain = inVain;
        this.until = until;
    }

    /**
     * Begins now.
     *
     * @param limit the connect timeout
     */
    public static ConnectDeadline of(String endpoints, Duration limit) {
        return new ConnectDeadline(
                endpoints,
                () -> "no answer from " + endpoints + " in " + limit.toMillis() + " ms",
                System.nanoTime() + limit.toNanos());
    }

    /** The same, with another message for when the time has passed. */
    public ConnectDeadline orSay(Supplier<String> message) {
        return new ConnectDeadline(endpoints, message, until);
    }

    /**
     * Waits for it until the time has passed.
     *
     * @param meaning of what it failed with
     * @throws LockConfigurationException libraries on the class path do not fit together
     * @throws BackendUnavailableException the time has passed, or the thread was interrupted, which it is still
     */
    public <T> T await(Future<T> connecting, Function<Throwable, ? extends LockException> meaning) {
        try {
            return connecting.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            String earlier = failed == null ? "" : ": " + failed;
            throw new BackendUnavailableException(
                    inVain.get() + earlier, endpoints, null); // its cause has nothing to say
        } catch (ExecutionException e) {
            Optional<LockConfigurationException> unlinked = LinkageErrorCheck.find(e, "connect to " + endpoints);
            throw unlinked.isPresent() ? unlinked.get() : meaning.apply(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendUnavailableException("interrupted while connecting to " + endpoints, endpoints, null);
        }
    }

    /**
     * Tries again and again until the time has passed: a server that is yet to come up is waited for, one that refuses us is not.
     *
     * @param connecting fails with {@link BackendUnavailableException} where another try may help
     * @throws LockException what the last try that had an end failed with, and that the time has passed
     */
    public <T> T tryFor(Supplier<T> connecting) {
        while (true) {
            try {
                return connecting.get();
            } catch (BackendUnavailableException e) {
                Optional<LockConfigurationException> unlinked = LinkageErrorCheck.find(e, "connect to " + endpoints);
                if (unlinked.isPresent()) {
                    throw unlinked.get();
                }
                if (isExpired() || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                failed = e.getMessage();
                LockSupport.parkNanos(Math.min(PAUSE_NANOS, until - System.nanoTime()));
                if (isExpired()) {
                    throw new BackendUnavailableException(inVain.get() + ": " + e.getMessage(), endpoints, e);
                }
            }
        }
    }

    private boolean isExpired() {
        return until - System.nanoTime() <= 0;
    }
}
