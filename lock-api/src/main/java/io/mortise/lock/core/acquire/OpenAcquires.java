// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.core.runtime.CloseSteps;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/** The acquires of one client that are under way, and whether it still takes new ones (S16). Thread-safe. */
public final class OpenAcquires {
    private final Set<AcquireOperation> open = Collections.synchronizedSet(new LinkedHashSet<>());
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Runnable whenLeft;

    /** @param whenLeft runs after each that has ended */
    public OpenAcquires(Runnable whenLeft) {
        this.whenLeft = whenLeft;
    }

    /** False: the client closes. */
    boolean enter(AcquireOperation operation) {
        open.add(operation);
        return !closing.get();
    }

    /** It has ended, and nothing of it is under way. */
    void leave(AcquireOperation operation) {
        open.remove(operation);
        whenLeft.run();
    }

    /** Takes no new ones. True for the first call. */
    public boolean close() {
        return closing.compareAndSet(false, true);
    }

    /** Ends all that are under way, after {@link #close}. */
    public void endAll() {
        List.copyOf(open).forEach(operation -> CloseSteps.run(operation::closing));
    }

    /** Whether {@link #close} was called. */
    public boolean isClosing() {
        return closing.get();
    }

    /** Exception for a request that comes after the close. */
    public static ClientClosedException closed() {
        return new ClientClosedException("the client is closed");
    }

    /** Number of acquires under way. */
    public int size() {
        return open.size();
    }
}
