// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** Flight recorder event of a lease, from the grant to the outcome of its release, or to its loss. */
@Name("io.mortise.lock.LockHold")
@Label("Lock Hold")
@Description("A lease, from the grant to the outcome of its release, or to its loss")
final class LockHoldEvent extends LockEvent {
    @Label("Outcome")
    @Description("released, lost or unknown")
    @Nullable
    String outcome;
}
