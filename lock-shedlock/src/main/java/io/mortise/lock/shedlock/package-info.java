// SPDX-License-Identifier: Apache-2.0
/** A lock provider for ShedLock, so that {@code @SchedulerLock} methods use the locks of any backend. */
@NullMarked
package io.mortise.lock.shedlock;

import org.jspecify.annotations.NullMarked;
