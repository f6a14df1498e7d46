// SPDX-License-Identifier: Apache-2.0
/** The notification of listeners about acquires and leases, and the events for JDK Flight Recorder. */
@NullMarked
package io.mortise.lock.core.listener;

import org.jspecify.annotations.NullMarked;
