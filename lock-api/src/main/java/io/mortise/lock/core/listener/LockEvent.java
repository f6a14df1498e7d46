// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.listener;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** Superclass of the flight recorder events, with the fields that all of them have. */
@Category("Mortise")
@StackTrace(false) // the events occur on threads of the client libraries
abstract class LockEvent extends Event {
    /** The value of {@link #token} where there is no fencing token. */
    static final long NO_TOKEN = -1;

    @Label("Lock")
    @Nullable
    String lock;

    @Label("Backend")
    @Nullable
    String backend;

    @Label("Fencing Token")
    @Description("The token of the grant; -1 if there is no grant, or the backend gives no tokens")
    long token = NO_TOKEN;
}
