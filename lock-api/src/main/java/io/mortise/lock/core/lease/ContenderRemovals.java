// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.lease;

import io.mortise.lock.core.runtime.LastResponse;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.function.Consumer;

/** Removes contenders from the store, each repeatedly until the store has answered (S8). Thread-safe. */
public final class ContenderRemovals {
    private final LockClock clock;
    private final LastResponse lastResponse;
    private final PendingCleanups cleanups;
    private final Consumer<LockName> whenRemoved;

    /** @param whenRemoved told the lock of each contender that may have been removed */
    public ContenderRemovals(
            LockClock clock, LastResponse lastResponse, PendingCleanups cleanups, Consumer<LockName> whenRemoved) {
        this.clock = clock;
        this.lastResponse = lastResponse;
        this.cleanups = cleanups;
        this.whenRemoved = whenRemoved;
    }

    /** Removes what a contender may have in the store. */
    public void remove(LockName name, Contender contender, Duration lease) {
        remove(name, contender, lease, new AttemptCleanup.Listener<Boolean>() {});
    }

    /** @param lease how long the store may keep it at most */
    void remove(LockName name, Contender contender, Duration lease, AttemptCleanup.Listener<Boolean> listener) {
        MonotonicTime until = clock.now().plus(lease);
        cleanups.begin(new AttemptCleanup<Boolean>(
                "withdrawal from lock \"" + name + "\"", contender::end, until, new AttemptCleanup.Listener<Boolean>() {
                    @Override
                    public void answered(Boolean wasThere, boolean firstTry) {
                        lastResponse.received();
                        listener.answered(wasThere, firstTry);
                        if (wasThere || !firstTry) {
                            whenRemoved.accept(name);
                        }
                    }

                    @Override
                    public void givenUp(Throwable last) {
                        if (!cleanups.isStopped()) { // closing the backend gives up all at once
                            contender.abandon();
                        }
                        listener.givenUp(last);
                    }
                }));
    }
}
