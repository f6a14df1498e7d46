// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.AttemptRemoval;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import java.util.concurrent.atomic.AtomicBoolean;

/** What one contender has at one master, or may have. */
final class Part {
    private final Master master;
    private final AttemptRemoval removal;
    private final AtomicBoolean settling = new AtomicBoolean();
    private final Footprint footprint = new Footprint();

    Part(Master master, BackendContext context, LockRequest request, RedlockKeys.OfLock keys) {
        this.master = master;
        this.removal = new AttemptRemoval(
                context, request, master::node, RedlockScript.RELEASE.script(), keys.all(), timeWanted ->
                        new String[] {request.attemptId(), timeWanted ? "1" : "0"});
    }

    Master master() {
        return master;
    }

    AttemptRemoval removal() {
        return removal;
    }

    Footprint footprint() {
        return footprint;
    }

    /** Its answer says that it has no vote there. */
    void untouch() {
        if (!removal.mayYetExecute()) {
            footprint.isGone();
        }
    }

    /** Whether something of it may be there. */
    boolean isTouched() {
        return footprint.mayBeThere();
    }

    /** False: what is left is being settled already. */
    boolean beginSettling() {
        return settling.compareAndSet(false, true);
    }

    /** What comes later is settled anew. */
    void endSettling() {
        settling.set(false);
    }
}
