// SPDX-License-Identifier: Apache-2.0
/** The runtime environment of one client: clocks, threads, callbacks and logs. */
@NullMarked
package io.mortise.lock.core.runtime;

import org.jspecify.annotations.NullMarked;
