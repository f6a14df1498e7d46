// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import io.mortise.lock.LossReason;
import org.jspecify.annotations.Nullable;

/** The recorded state of one grant of a test; guarded by its {@link TestRecorder}. */
final class GrantRecord {
    final ClientLinkState client;
    final String lock;
    final String attempt;
    final long grantedAt;

    /** When its release or withdrawal was sent; 0 before. */
    long endingAt;

    /** The store's reply to that: whether the grant was there. */
    @Nullable
    Boolean wasThere;

    /** When and why the holder was told of the loss. */
    long lostAt;

    @Nullable
    LossReason loss;

    /** When the same lock was granted again; 0 before. */
    long supersededAt;

    /** When the latest renewal that succeeded was sent; stays 0 if the store renews sessions, which may outlive the grant. */
    long renewalSentAt;

    int renewals;

    /** Whether the kit removed it from the store, which then tells nobody in advance. */
    boolean removedByTheKit;

    GrantRecord(ClientLinkState client, String lock, String attempt, long grantedAt) {
        this.client = client;
        this.lock = lock;
        this.attempt = attempt;
        this.grantedAt = grantedAt;
    }

    boolean isHeld() {
        return endingAt == 0 && lostAt == 0;
    }

    /** Returns whether the holder was told that the store no longer has the grant, or that it cannot know. */
    boolean wasTakenByTheStore() {
        return loss != null
                && (loss.kind() == LossReason.Kind.EXPIRED
                        || loss.kind() == LossReason.Kind.SESSION_ENDED
                        || loss.kind() == LossReason.Kind.REMOVED);
    }
}
