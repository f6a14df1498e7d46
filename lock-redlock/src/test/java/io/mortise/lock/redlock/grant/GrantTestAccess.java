// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockRequest;

/** Gives tests of other packages access to cleanups and to the recovery of votes. */
public final class GrantTestAccess {
    private GrantTestAccess() {}

    /** Asks a master again for the vote of a grant. */
    public static void recoverVote(GrantValidity grant, RedlockMaster master) {
        ((RedlockGrantValidity) grant).voteRecovery().recoverAt(master);
    }

    /** The cleanup of one ended attempt at one master. */
    public static final class Cleanup {
        private final AttemptAtMaster part;
        private final LockRequest request;
        private final BackendContext context;

        public Cleanup(RedlockMaster master, LockRequest request, RedlockKeys keys, BackendContext context) {
            this.part = new AttemptAtMaster(master, context, request, keys.of(request.name()));
            this.request = request;
            this.context = context;
        }

        public void start() {
            OrphanCleanup.start(part, request, context);
        }

        public boolean hasEnded() {
            boolean ended = part.beginCleanup();
            if (ended) {
                part.endCleanup();
            }
            return ended;
        }
    }
}
