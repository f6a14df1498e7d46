// SPDX-License-Identifier: Apache-2.0
/** The masters of one client: connections, health, and the quarantine of masters that may have forgotten votes. Internal. */
@NullMarked
package io.mortise.lock.redlock.master;

import org.jspecify.annotations.NullMarked;
