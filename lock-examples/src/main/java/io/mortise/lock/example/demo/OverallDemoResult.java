// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Results of a complete demo, with and without the lock.
 *
 * @param url URL of the store, without secrets
 * @param workers number of workers
 * @param items number of items in stock at the start of each run
 * @param without result of the run without the lock
 * @param with result of the run with the lock
 * @param kill result of killing a holder
 * @param frozen result of freezing a holder
 * @param took duration of the demo
 */
record OverallDemoResult(
        String url,
        int workers,
        int items,
        DemoRunResult without,
        DemoRunResult with,
        FaultDrillResult.Kill kill,
        FaultDrillResult.Frozen frozen,
        Duration took) {
    /** Returns the claims of the demo that this run has not confirmed; empty if all are confirmed. */
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
        if (!kill.promiseKept()) {
            failures.add("after the kill token " + kill.token() + " was followed by " + kill.nextToken());
        }
        if (!frozen.promiseKept()) {
            failures.add("the frozen holder's late write was " + (frozen.refused() ? "refused" : "accepted")
                    + " with token " + frozen.token() + " after " + frozen.nextToken() + ", isHeld="
                    + frozen.heldAfterwards());
        }
        return failures;
    }

    boolean ok() {
        return failures().isEmpty();
    }
}
