// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.Removal;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import java.util.concurrent.atomic.AtomicBoolean;

/** What one ticket has at one master, or may have. */
final class Part {
    private final Master master;
    private final Removal removal;
    private final AtomicBoolean settling = new AtomicBoolean();
    private volatile boolean touched;
    private volatile boolean inLine;

    Part(Master master, BackendContext context, LockRequest request, RedlockKeys.OfLock keys) {
        this.master = master;
        this.removal =
                new Removal(context, request, master::node, RedlockScript.RELEASE.script(), keys.all(), timeWanted ->
                        new String[] {request.attemptId(), timeWanted ? "1" : "0"});
    }

    Master master() {
        return master;
    }

    Removal removal() {
        return removal;
    }

    /** Something is sent that may make something; one that waits may stand in line there from now on. */
    void touch(boolean waits) {
        touched = true;
        inLine |= waits;
    }

    /** Its answer says that it has no vote there. */
    void untouch() {
        touched = inLine || removal.mayYetExecute();
    }

    /** Whether something of it may be there. */
    boolean isTouched() {
        return touched;
    }

    /** Whether it may stand in line there. */
    boolean isInLine() {
        return inLine;
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
