// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** Flight recorder event of an acquire that had to wait, from the first busy answer to its end. */
@Name("io.mortise.lock.LockWait")
@Label("Lock Wait")
@Description("An acquire that had to wait, from the first busy answer to its end")
final class LockWaitEvent extends LockEvent {
    @Label("Acquiring Thread")
    @Nullable
    Thread acquirer;

    @Label("Outcome")
    @Description("granted, busy, withdrawn or failed")
    @Nullable
    String outcome;
}
