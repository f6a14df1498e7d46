// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import io.mortise.lock.redis.node.ServerTime;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockRequest;

/** Gives tests in other packages access to the package-private cleanup and vote recovery. */
public final class GrantTestAccess {
    private GrantTestAccess() {}

    /** Requests the vote of a master for a grant again. */
    public static void recoverVote(GrantValidity grant, RedlockMaster master) {
        ((RedlockGrantValidity) grant).voteRecovery().recoverAt(master);
    }

    /** The cleanup of one ended attempt at one master. */
    public static final class Cleanup {
        private final StoredAttemptAtMaster attempt;
        private final LockRequest request;
        private final BackendContext context;

        public Cleanup(RedlockMaster master, LockRequest request, RedlockKeys keys, BackendContext context) {
            this.attempt = new StoredAttemptAtMaster(master, request, keys.of(request.name()));
            this.request = request;
            this.context = context;
        }

        public void start() {
            OrphanCleanup.start(attempt, request, context);
        }

        /** Records that another request of the attempt had no reply, and starts its cleanup. */
        public void loseRequest() {
            attempt.requestSent(attempt.master().node().epoch(), false);
            attempt.requestLost(attempt.master().node().epoch(), ServerTime.UNKNOWN);
            start();
        }

        public boolean hasEnded() {
            boolean ended = attempt.beginCleanup();
            if (ended) {
                attempt.endCleanup();
            }
            return ended;
        }
    }
}
