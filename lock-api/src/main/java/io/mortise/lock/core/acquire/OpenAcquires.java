// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.core.runtime.FailureSafeRunner;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tracks the acquire operations of one client that are in progress. After the client is closed, it rejects new ones (S16).
 * Thread-safe.
 */
public final class OpenAcquires {
    private final Set<AcquireOperation> open = Collections.synchronizedSet(new LinkedHashSet<>());
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Runnable whenLeft;

    /** @param whenLeft runs after each operation that has ended */
    public OpenAcquires(Runnable whenLeft) {
        this.whenLeft = whenLeft;
    }

    /** Adds an operation. Returns false if the client is closing; then the operation must end at once. */
    boolean enter(AcquireOperation operation) {
        open.add(operation);
        return !closing.get();
    }

    /** Removes an operation that has ended and has no pending attempt. */
    void leave(AcquireOperation operation) {
        open.remove(operation);
        whenLeft.run();
    }

    /** Rejects new operations from now on. Returns whether this is the first call. */
    public boolean close() {
        return closing.compareAndSet(false, true);
    }

    /** Ends all operations in progress, after {@link #close}. */
    public void endAll() {
        List.copyOf(open).forEach(operation -> FailureSafeRunner.run(operation::closing));
    }

    /** Returns whether {@link #close} was called. */
    public boolean isClosing() {
        return closing.get();
    }

    /** Returns the exception for a request that arrives after the close. */
    public static ClientClosedException closed() {
        return new ClientClosedException("the client is closed");
    }

    /** Returns the number of operations in progress. */
    public int size() {
        return open.size();
    }
}
