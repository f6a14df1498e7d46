// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * Remembers that a test has used a guarantee which the compared library does not claim: many tests call a lock on threads of
 * their own, and would report the abort as a failure, or not at all. Thread-safe.
 */
final class TestClaims {
    private final AtomicReference<@Nullable String> missing = new AtomicReference<>();
    private volatile String test = "";

    /** Begins the test of that name. */
    void begin(String name) {
        test = name;
    }

    /** Returns the exception to throw, and remembers the guarantee. */
    TestAbortedException abort(String guarantee) {
        missing.compareAndSet(null, guarantee);
        return UnclaimedGuaranteeAbort.abort(guarantee);
    }

    TestAbortedException abort(Claim claim) {
        return abort(claim.description());
    }

    /** Returns the first unclaimed guarantee that the test used; empty if it used none. */
    Optional<String> missing() {
        return Optional.ofNullable(missing.get());
    }

    /** Ends each further call at once after an abort, since the test is over. */
    void requireNoAbort() {
        missing().ifPresent(guarantee -> {
            throw UnclaimedGuaranteeAbort.abort(guarantee);
        });
    }

    /** Returns whether the test is one of the rule on losses (S07), which is about nothing else than what a holder is told. */
    boolean isAboutLosses() {
        return test.startsWith("S07_");
    }
}
