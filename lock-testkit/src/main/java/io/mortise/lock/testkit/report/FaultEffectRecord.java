// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One fault that the kit injected, with the evidence of whether it took effect; guarded by its {@link TestRecorder}.
 *
 * <p>A link that is cut or silent lets no reply through to a request that was sent afterwards. A deleted or expired grant can
 * neither be renewed nor be found by its release.
 */
final class FaultEffectRecord {
    final String fault;
    final long startedAt;

    /** The delay in one direction; null for other faults. */
    final @Nullable Duration oneWay;

    /** The grants that the fault removed from the store. */
    final List<GrantRecord> removed = new ArrayList<>();

    /** When it was certainly in effect. */
    long inEffectAt;

    /** The number of requests that were sent during the fault. */
    int sent;

    /** The number of those requests whose replies were as late as the delay demands. */
    int late;

    String contradiction = "";

    FaultEffectRecord(String fault, long startedAt, @Nullable Duration oneWay) {
        this.fault = fault;
        this.startedAt = startedAt;
        this.inEffectAt = startedAt;
        this.oneWay = oneWay;
    }

    /** Notes that the fault removes these grants from the store. */
    void remove(List<GrantRecord> grants) {
        removed.addAll(grants);
        grants.forEach(grant -> grant.removedByTheKit = true);
    }

    /** Notes that the store did what was asked in a request that was sent during the fault. */
    void answered(String request, long tookNanos) {
        if (oneWay == null) {
            contradict(request + " was answered by the store during the fault");
        } else if (tookNanos >= oneWay.toNanos()) {
            late++;
        } else {
            contradict(request + " was answered after " + tookNanos / 1_000_000
                    + " ms, though each direction is delayed by " + oneWay.toMillis() + " ms");
        }
    }

    private void contradict(String why) {
        if (contradiction.isEmpty()) {
            contradiction = why;
        }
    }

    FaultEffectCounts check() {
        boolean gone = false;
        for (GrantRecord grant : removed) {
            if (Boolean.TRUE.equals(grant.wasThere) && grant.endingAt > inEffectAt) {
                contradict("the release of " + grant.client.name + " still found its grant");
            } else if (grant.renewalSentAt > inEffectAt) {
                contradict("a renewal of " + grant.client.name + " still found its grant");
            }
            gone |= grant.wasTakenByTheStore()
                    || Boolean.FALSE.equals(grant.wasThere)
                    || (grant.supersededAt > 0 && (grant.endingAt == 0 || grant.endingAt > grant.supersededAt));
        }
        boolean contradicted = !contradiction.isEmpty();
        boolean seen = oneWay != null ? late > 0 : sent > 0 || gone;
        return new FaultEffectCounts(
                fault,
                !contradicted && seen ? 1 : 0,
                contradicted ? 1 : 0,
                contradicted || seen ? 0 : 1,
                contradiction);
    }
}
