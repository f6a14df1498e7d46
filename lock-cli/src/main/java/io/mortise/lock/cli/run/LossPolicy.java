// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Locale;

/** Policy of {@code lockctl run} for the loss of its lock: kill the command, or only warn. */
enum LossPolicy {
    /** Sends TERM to the command's process group before the lease expires, and KILL before another client can get the lock. */
    KILL,
    /** Lets the command continue, and prints a warning on standard error. */
    WARN;

    /** Returns the name as the help and the completion show it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
