// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** Flight recorder event of the loss of a lease. */
@Name("io.mortise.lock.LeaseLoss")
@Label("Lease Loss")
@Description("The loss of a lease")
final class LeaseLossEvent extends LockEvent {
    @Label("Reason")
    @Description("expired, session_ended, removed, max_hold or client_closed")
    @Nullable
    String reason;

    @Label("Detail")
    @Nullable
    String detail;
}
