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
 * Retries the first connection to a store until it succeeds or the connect timeout expires.
 *
 * <p>The timeout counts from the creation of this object. The exception names the endpoints and the last failure (S15).
 * Thread-safe.
 */
public final class ConnectRetrier {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final String endpoints;
    private final Supplier<String> timeoutMessage;
    private final long until;

    /** The failure of the latest try that did not run into the timeout. */
    private volatile @Nullable String lastFailure;

    private ConnectRetrier(String endpoints, Supplier<String> timeoutMessage, long until) {
        this.endpoints = endpoints;
        this.timeoutMessage = timeoutMessage;
        this.until = until;
    }

    /**
     * Creates a deadline that starts now.
     *
     * @param endpoints the servers, for messages
     * @param limit the connect timeout
     */
    public static ConnectRetrier of(String endpoints, Duration limit) {
        return new ConnectRetrier(
                endpoints,
                () -> "no answer from " + endpoints + " in " + limit.toMillis() + " ms",
                System.nanoTime() + limit.toNanos());
    }

    /**
     * Returns the same deadline with another message for a timeout.
     *
     * @param message creates the message when the timeout has expired
     */
    public ConnectRetrier withTimeoutMessage(Supplier<String> message) {
        return new ConnectRetrier(endpoints, message, until);
    }

    /**
     * Waits for the future until the timeout expires.
     *
     * @param meaning maps the failure of the future to the exception to throw
     * @throws LockConfigurationException if the libraries on the class path are incompatible
     * @throws BackendUnavailableException if the timeout expires, or if the thread is interrupted; the interrupt flag is kept
     */
    public <T> T await(Future<T> connecting, Function<Throwable, ? extends LockException> meaning) {
        try {
            return connecting.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            String earlier = lastFailure == null ? "" : ": " + lastFailure;
            throw new BackendUnavailableException(
                    timeoutMessage.get() + earlier, endpoints, null); // a TimeoutException as cause would add nothing
        } catch (ExecutionException e) {
            Optional<LockConfigurationException> unlinked = LinkageErrorCheck.find(e, "connect to " + endpoints);
            throw unlinked.isPresent() ? unlinked.get() : meaning.apply(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BackendUnavailableException("interrupted while connecting to " + endpoints, endpoints, null);
        }
    }

    /**
     * Tries to connect until it succeeds or the timeout expires. It retries while a server does not respond or refuses
     * connections, for example because it is about to start, but not after a server has rejected the client, for example for a
     * wrong password.
     *
     * @param connecting makes one try; throws {@link BackendUnavailableException} if a retry may help
     * @throws BackendUnavailableException if the timeout expires, with the failure of the last try
     * @throws LockException if a try fails with any other exception
     */
    public <T> T retry(Supplier<T> connecting) {
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
                lastFailure = e.getMessage();
                LockSupport.parkNanos(Math.min(PAUSE_NANOS, until - System.nanoTime()));
                if (isExpired()) {
                    throw new BackendUnavailableException(timeoutMessage.get() + ": " + e.getMessage(), endpoints, e);
                }
            }
        }
    }

    private boolean isExpired() {
        return until - System.nanoTime() <= 0;
    }
}
