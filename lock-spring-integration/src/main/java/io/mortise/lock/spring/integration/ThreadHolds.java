// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import io.mortise.lock.LeaseLock;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.spi.LockName;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The locks of a registry that each thread holds, by name. Keeps nothing for a lock after the last unlock. */
final class ThreadHolds {
    /** A method of a lock that acquires it. */
    @FunctionalInterface
    interface AcquireCall<X extends Exception> {
        /** Returns whether the thread has one more hold. */
        boolean on(LeaseLock lock) throws X;
    }

    private final LockClient client;

    /** Absent for a thread that holds nothing. */
    @SuppressWarnings("ThreadLocalUsage") // the holds of one registry
    private final ThreadLocal<@Nullable Map<String, RegistryHold>> holds = new ThreadLocal<>();

    ThreadHolds(LockClient client) {
        this.client = client;
    }

    /**
     * Acquires a lock by a call on the one that the thread holds, or on a new one.
     *
     * @param options the options of the lease, if the thread does not hold the lock
     */
    <X extends Exception> boolean acquire(String name, LockOptions options, AcquireCall<X> call) throws X {
        RegistryHold known = ofThread().get(name);
        if (known != null) {
            return call.on(known.lock());
        }
        RegistryHold first = new RegistryHold(client.named(name, options).asLock(), options.maxHold());
        Map<String, RegistryHold> own = holds.get();
        if (own == null) {
            own = new HashMap<>();
            holds.set(own);
        }
        own.put(name, first); // before the grant, which would have no owner if there were no memory for the entry
        boolean acquired = false;
        try {
            acquired = call.on(first.lock());
        } finally {
            if (!acquired) {
                remove(name);
            }
        }
        return acquired;
    }

    /** Removes one hold of the thread, also if that reports a loss. */
    void unlock(String name) {
        LeaseLock lock = get(name).lock();
        try {
            lock.unlock();
        } finally {
            if (lock.holdCount() == 0) {
                remove(name);
            }
        }
    }

    private void remove(String name) {
        Map<String, RegistryHold> own = ofThread();
        own.remove(name);
        if (own.isEmpty()) {
            holds.remove();
        }
    }

    /**
     * Returns the hold of the calling thread.
     *
     * @throws IllegalMonitorStateException if it has none
     */
    RegistryHold get(String name) {
        RegistryHold hold = ofThread().get(name);
        if (hold == null) {
            throw new IllegalMonitorStateException("thread "
                    + Thread.currentThread().getName() + " does not hold lock \"" + LockName.shown(name) + "\"");
        }
        return hold;
    }

    /** Returns the holds of the calling thread, by name. */
    Map<String, RegistryHold> ofThread() {
        Map<String, RegistryHold> own = holds.get();
        return own == null ? Map.of() : own;
    }
}
