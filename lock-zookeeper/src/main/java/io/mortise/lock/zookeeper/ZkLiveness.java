// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Liveness;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.Optional;

/**
 * The session's: what all its grants hang on. Proved by an answered write, which only a server in touch with a majority can give;
 * one that is cut off goes on answering pings, and a leader that is, {@code sync}s.
 */
final class ZkLiveness extends Liveness {
    private final ZkSession session;
    private final Duration timeout;
    private final SessionProof proof;

    /**
     * Of a session whose first request was answered just now.
     *
     * @param timeout as negotiated
     */
    ZkLiveness(ZkSession session, LockClock clock, Duration timeout, long sentNanos) {
        super(clock, timeout.dividedBy(5), SessionProof.first(timeout, sentNanos, session.owned()));
        this.session = session;
        this.timeout = timeout;
        this.proof = new SessionProof(timeout, sentNanos, clock.nanoTime(), session.owned());
    }

    /** A renewal succeeded, just now. */
    void answered(long sentNanos, long receivedNanos) {
        extend(proof.answered(sentNanos, receivedNanos));
    }

    /** After how long one more should follow the latest one, because that proves little; empty: in its turn. */
    Optional<Duration> sooner() {
        return proof.provedLittle() ? Optional.of(proof.reportTime()) : Optional.empty();
    }

    /** How long a proof is waited for before its server is taken for silent: another one must be found before the deadline. */
    Duration patience() {
        return timeout.dividedBy(4);
    }

    /** The session timeout as negotiated. */
    Duration timeout() {
        return timeout;
    }

    ZkSession session() {
        return session;
    }

    @Override
    protected void onLost(LossReason reason) {
        session.over(reason);
    }
}
