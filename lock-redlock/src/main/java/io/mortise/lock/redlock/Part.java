// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.redis.node.Removal;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockRequest;
import java.util.concurrent.atomic.AtomicBoolean;

/** What one attempt has at one master, or may have. */
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

    /** Something was sent that may have made something. */
    void touch() {
        touched = true;
    }

    /** Its answer says that nothing of this attempt is there, and nothing else of it is under way. */
    void untouch() {
        touched = inLine || removal.mayYetExecute();
    }

    boolean isTouched() {
        return touched;
    }

    /** It stands in line there, or may. */
    void standsInLine() {
        inLine = true;
    }

    boolean isInLine() {
        return inLine;
    }

    /** True once: what is left is to be settled in the background. */
    boolean beginSettling() {
        return settling.compareAndSet(false, true);
    }
}
