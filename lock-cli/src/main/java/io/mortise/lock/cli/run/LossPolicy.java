// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Locale;

/** Policy for a command whose lock is lost: kill it, or warn. */
enum LossPolicy {
    /** Its group is asked to end when the lease is expiring, and killed before another can have the lock. */
    KILL,
    /** It goes on; a line on standard error says so. */
    WARN;

    /** As help and completion have it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
