// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.LockException;
import io.mortise.lock.redis.contender.AttemptRemoval;
import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockRequest;

/** Gives tests in other packages access to the package-private cleanup and vote recovery. */
public final class GrantTestAccess {
    private GrantTestAccess() {}

    /** Requests the vote of a master for a grant again. */
    public static void recoverVote(GrantValidity grant, RedlockMaster master) {
        ((RedlockGrantValidity) grant).contender().recoverVote(master.index());
    }

    /** Starts the cleanup of an ended attempt that may have left a vote at the master. */
    public static void startCleanup(
            RedlockMaster master, LockRequest request, RedlockKeys keys, BackendContext context) {
        AttemptRemoval removal = new AttemptRemoval(
                request, RedlockScript.RELEASE.script(), keys.of(request.name()).all());
        OrphanCleanup.start(
                master,
                request,
                context,
                false,
                result -> removal.send(master.node(), false, new AttemptRemoval.Handler() {
                    @Override
                    public void onRemoved(int epoch, ServerTime time, boolean held, boolean queued) {
                        result.complete(true);
                    }

                    @Override
                    public void onFailure(boolean notExecuted, LockException cause) {
                        result.completeExceptionally(cause);
                    }
                }),
                () -> {});
    }
}
