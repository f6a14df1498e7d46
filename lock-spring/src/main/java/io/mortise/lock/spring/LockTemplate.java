// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.LeaseAction;
import io.mortise.lock.LeaseFunction;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs code while a lock is held, as {@link Locked} does for methods: inside a transaction the release waits until the transaction
 * has completed, a lost lease rolls it back, and {@link CurrentLease} answers inside the body.
 *
 * <p>Immutable and thread-safe; {@link #maxWait} and {@link #options} return changed copies. For an asynchronous body use
 * {@link io.mortise.lock.DistributedLock#callAsync}.
 */
public final class LockTemplate {
    private final LockClient client;
    private final Duration maxWait;
    private final LockOptions options;

    /** Creates a template that waits for a lock for at most 5 s, and uses the default {@link LockOptions}. */
    public LockTemplate(LockClient client) {
        this(Objects.requireNonNull(client, "client"), Duration.ofSeconds(5), LockOptions.defaults());
    }

    private LockTemplate(LockClient client, Duration maxWait, LockOptions options) {
        this.client = client;
        this.maxWait = maxWait;
        this.options = options;
    }

    /**
     * Sets the longest time to wait for a lock. Default: 5 s; for the template of {@link EnableLocking} the property
     * {@code mortise.locked.max-wait}.
     *
     * @param limit zero or more; zero makes one attempt
     * @throws IllegalArgumentException if the limit is negative
     */
    public LockTemplate maxWait(Duration limit) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException("maxWait is " + limit + ", must be zero or more");
        }
        return new LockTemplate(client, limit, options);
    }

    /** Sets the options of the leases. */
    public LockTemplate options(LockOptions leaseOptions) {
        return new LockTemplate(client, maxWait, Objects.requireNonNull(leaseOptions, "leaseOptions"));
    }

    /**
     * Runs the body while the lock is held.
     *
     * @param name the name of the lock
     * @throws X if the body throws it; a loss of the lease is then a suppressed {@link io.mortise.lock.LeaseLostException}
     * @throws LockBusyException if another owner held the lock until the end of the wait
     * @throws io.mortise.lock.LeaseLostException if the body returned normally, but the lease was lost
     * @throws LockInterruptedException if the thread was interrupted while it waited
     * @throws IllegalStateException if a body or method that is running on this thread holds the lock (S4)
     */
    public <X extends Exception> void run(String name, LeaseAction<X> body) throws X {
        if (!tryRun(name, body)) {
            throw new LockBusyException(name, maxWait);
        }
    }

    /**
     * Does the same as {@link #run}, for a body with a result.
     *
     * @throws IllegalStateException also if the body returns an incomplete future, or a publisher or stream: its work would go on
     *     after the release
     */
    public <T, X extends Exception> T call(String name, LeaseFunction<T, X> body) throws X {
        Objects.requireNonNull(body, "body");
        HeldLock held = acquire(name);
        if (held == null) {
            throw new LockBusyException(name, maxWait);
        }
        return held.<T, X>call(lease -> ended(body.call(lease)));
    }

    /**
     * Does the same as {@link #run}, but does not fail if the lock is busy.
     *
     * @return false if another owner held the lock until the end of the wait, so that the body did not run
     */
    public <X extends Exception> boolean tryRun(String name, LeaseAction<X> body) throws X {
        Objects.requireNonNull(body, "body");
        return this.<Boolean, X>tryCall(name, lease -> {
                    body.run(lease);
                    return true;
                })
                .isPresent();
    }

    /**
     * Does the same as {@link #call}, but does not fail if the lock is busy.
     *
     * @param body must not return null, which could not be distinguished from a busy lock
     * @return the result of the body; empty if another owner held the lock until the end of the wait, so that the body did not run
     */
    public <T, X extends Exception> Optional<T> tryCall(String name, LeaseFunction<T, X> body) throws X {
        Objects.requireNonNull(body, "body");
        HeldLock held = acquire(name);
        return held == null
                ? Optional.empty()
                : Optional.of(held.<T, X>call(
                        lease -> Objects.requireNonNull(ended(body.call(lease)), "the body returned null")));
    }

    /** Refuses a result whose work has not ended with the body. */
    private static <T> T ended(T result) {
        return ReturnKind.refuseLate(result, "the body of a LockTemplate", "use DistributedLock.callAsync");
    }

    private @Nullable HeldLock acquire(String name) {
        return HeldLock.acquire(client, client.named(name, options), maxWait);
    }
}
