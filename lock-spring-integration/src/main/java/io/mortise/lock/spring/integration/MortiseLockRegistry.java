// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.integration.util.CheckedCallable;
import org.springframework.integration.util.CheckedRunnable;

/**
 * A lock registry of Spring Integration that uses the locks of a {@link LockClient}.
 *
 * <p>Locks of equal keys are equal and share their holds: they are reentrant, owned by a thread, and threads of one process
 * exclude each other as processes do. The client renews the lease of a lock until the thread has unlocked it, so no lock expires
 * while its holder works. If the lease is lost, the next call of its holder throws {@link io.mortise.lock.LeaseLostException}:
 * each {@code unlock}, and each call that would add a hold ({@link io.mortise.lock.LeaseLock}). A store that does not respond is
 * a {@link io.mortise.lock.BackendUnavailableException} of all calls that acquire; false means that another owner holds the lock
 * (S15).
 *
 * <p>The registry keeps nothing for a lock that is not held (S17). Thread-safe. Does not close the client.
 */
public final class MortiseLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {
    /** The prefix of the lock names, unless names are given: the locks of the application differ from those of its flows. */
    public static final String DEFAULT_PREFIX = "integration/";

    private final LockClient client;
    private final LockOptions options;
    private final Function<Object, String> names;
    private final ThreadHolds holds;

    /** Creates a registry with default options, and with the names of {@link #DEFAULT_PREFIX}. */
    public MortiseLockRegistry(LockClient client) {
        this(client, LockOptions.defaults(), namesWithPrefix(DEFAULT_PREFIX));
    }

    /**
     * Creates a registry.
     *
     * @param options the options of all locks; their maximum hold is the time to live of locks that are locked without one, by
     *     default there is none
     * @param names returns the name of the lock for a key; see S13 for the limits
     * @throws IllegalArgumentException if the backend does not support an option
     */
    public MortiseLockRegistry(LockClient client, LockOptions options, Function<Object, String> names) {
        this.client = Objects.requireNonNull(client, "client");
        this.holds = new ThreadHolds(client);
        this.options = Objects.requireNonNull(options, "options");
        this.names = Objects.requireNonNull(names, "names");
        client.named("options of a lock registry", options); // rejects what the backend does not support, without I/O
    }

    /**
     * Returns names that consist of a prefix and the key, for keys that are a {@link String}, a {@link Number}, an {@link Enum} or a
     * {@link UUID}. Other keys are rejected, since their text may differ between processes.
     *
     * @param prefix may be empty
     */
    public static Function<Object, String> namesWithPrefix(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        return key -> {
            if (key instanceof String || key instanceof Number || key instanceof Enum || key instanceof UUID) {
                return prefix + key;
            }
            throw new IllegalArgumentException("the key of a lock is of " + key.getClass()
                    + ", must be a String, Number, Enum or UUID: create the registry with a function that names it");
        };
    }

    /**
     * Returns the lock of a key. Does no I/O.
     *
     * @throws IllegalArgumentException if the key has no valid name (S13, S14)
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        String name = name(lockKey);
        client.named(name); // checks the name
        return new RegistryLock(this, name);
    }

    private String name(Object lockKey) {
        Objects.requireNonNull(lockKey, "lockKey");
        return Objects.requireNonNull(names.apply(lockKey), "the name of the lock");
    }

    /**
     * Returns the lease of a lock that the calling thread holds, for its fencing token; it may have ended. Leave its release to
     * {@code unlock}.
     *
     * @throws IllegalMonitorStateException if the thread does not hold the lock
     */
    public Lease lease(Object lockKey) {
        return holds.get(name(lockKey)).lock().lease();
    }

    /**
     * Checks that the calling thread still holds the lock. There is nothing to renew: the client renews the lease anyway.
     *
     * @throws IllegalMonitorStateException if the thread does not hold the lock
     * @throws io.mortise.lock.LeaseLostException if its lease was lost
     * @throws IllegalStateException if the lock was locked with a time to live, which cannot be extended
     */
    @Override
    public void renewLock(Object lockKey) {
        String name = name(lockKey);
        RegistryHold hold = holds.get(name);
        hold.lock().lease().ensureHeld();
        hold.timeToLive().ifPresent(limit -> {
            throw new IllegalStateException(
                    "lock \"" + LockName.shown(name) + "\" was locked for at most " + limit
                            + ", which cannot be extended: lock it without a time to live, its lease is renewed until the unlock");
        });
    }

    /**
     * Does the same as {@link #renewLock(Object)}: a lock without a time to live is held for as long as {@code ttl} anyway.
     *
     * @param ttl more than zero
     * @throws IllegalArgumentException if {@code ttl} is not positive
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        withTimeToLive(ttl);
        renewLock(lockKey);
    }

    /** Does nothing, since the registry keeps no unused locks. */
    @Override
    public void expireUnusedOlderThan(long age) {}

    @Override
    public <E extends Throwable> void executeLocked(Object lockKey, CheckedRunnable<E> runnable)
            throws E, InterruptedException {
        Lock lock = obtain(lockKey);
        lock.lockInterruptibly();
        runAndUnlock(lock, runnable);
    }

    /**
     * Runs the task under the lock. If the task fails and the lease was lost too, the exception is that of the task, and the loss is
     * a suppressed one.
     */
    @Override
    public <T extends @Nullable Object, E extends Throwable> T executeLocked(
            Object lockKey, CheckedCallable<T, E> callable) throws E, InterruptedException {
        Lock lock = obtain(lockKey);
        lock.lockInterruptibly();
        return callAndUnlock(lock, callable);
    }

    @Override
    public <E extends Throwable> void executeLocked(
            Object lockKey, Duration waitLockDuration, CheckedRunnable<E> runnable)
            throws E, InterruptedException, TimeoutException {
        runAndUnlock(lockWithin(lockKey, waitLockDuration), runnable);
    }

    @Override
    public <T extends @Nullable Object, E extends Throwable> T executeLocked(
            Object lockKey, Duration waitLockDuration, CheckedCallable<T, E> callable)
            throws E, InterruptedException, TimeoutException {
        return callAndUnlock(lockWithin(lockKey, waitLockDuration), callable);
    }

    private Lock lockWithin(Object lockKey, Duration maxWait) throws InterruptedException, TimeoutException {
        Lock lock = obtain(lockKey);
        if (!lock.tryLock(TimeUnit.NANOSECONDS.convert(maxWait), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException(lock + " was busy for " + maxWait);
        }
        return lock;
    }

    /** An unlock as the resource of a {@code try}, so that its failure does not hide that of the body. */
    private interface Unlock extends AutoCloseable {
        @Override
        void close();
    }

    @SuppressWarnings("try") // the body does not use the resource
    private static <E extends Throwable> void runAndUnlock(Lock lock, CheckedRunnable<E> body) throws E {
        try (Unlock unlock = lock::unlock) {
            body.run();
        }
    }

    @SuppressWarnings("try") // as above
    private static <T extends @Nullable Object, E extends Throwable> T callAndUnlock(
            Lock lock, CheckedCallable<T, E> body) throws E {
        try (Unlock unlock = lock::unlock) {
            return body.call();
        }
    }

    /** Returns the options of locks without a time to live of their own. */
    LockOptions options() {
        return options;
    }

    LockOptions withTimeToLive(Duration ttl) {
        return options.maxHold(ttl);
    }

    ThreadHolds holds() {
        return holds;
    }

    @Override
    public String toString() {
        return "MortiseLockRegistry[" + client + "]";
    }
}
