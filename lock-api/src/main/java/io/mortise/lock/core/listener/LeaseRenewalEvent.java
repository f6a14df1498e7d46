// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;

/** Flight recorder event of a successful renewal. */
@Name("io.mortise.lock.LeaseRenewal")
@Label("Lease Renewal")
@Description("A successful renewal of a lease")
final class LeaseRenewalEvent extends LockEvent {
    @Label("Slack")
    @Description("The time that was left until the deadline when the reply arrived")
    @Timespan(Timespan.NANOSECONDS)
    long slack;

    @Label("Lease Duration")
    @Timespan(Timespan.NANOSECONDS)
    long leaseDuration;
}
