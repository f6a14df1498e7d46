// SPDX-License-Identifier: Apache-2.0
/** Clocks, threads, callbacks and logs of one client. */
@NullMarked
package io.mortise.lock.core.runtime;

import org.jspecify.annotations.NullMarked;
