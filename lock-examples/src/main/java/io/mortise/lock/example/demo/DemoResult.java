// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Figures of a whole demo.
 *
 * @param url without secrets
 */
record DemoResult(
        String url,
        int workers,
        int items,
        DemoRunResult without,
        DemoRunResult with,
        FaultDrillResult.Kill kill,
        FaultDrillResult.Frozen frozen,
        Duration took) {
    /** What the demo claims and this run did not show; empty when all of it held. */
    List<String> failures() {
        List<String> failures = new ArrayList<>();
        if (without.lost() <= 0) {
            failures.add("the run without the lock lost no update");
        }
        if (with.lost() != 0) {
            failures.add("the run with the lock lost " + with.lost() + " updates");
        }
        if (with.sold() != items) {
            failures.add(with.sold() + " of " + items + " items were sold with the lock");
        }
        if (!with.tokensInOrder()) {
            failures.add("fencing tokens came out of order: " + with.repeatedTokens() + " repeated, "
                    + with.refusedHolders() + " holders refused");
        }
        if (!kill.held()) {
            failures.add("after the kill token " + kill.token() + " was followed by " + kill.nextToken());
        }
        if (!frozen.held()) {
            failures.add("the frozen holder's late write was " + (frozen.refused() ? "refused" : "accepted")
                    + " with token " + frozen.token() + " after " + frozen.nextToken() + ", isHeld="
                    + frozen.believed());
        }
        return failures;
    }

    boolean ok() {
        return failures().isEmpty();
    }
}
