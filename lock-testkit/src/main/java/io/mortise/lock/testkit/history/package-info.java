// SPDX-License-Identifier: Apache-2.0
/**
 * Records what several processes observe of a lock under faults, and checks the recorded history against the locking rules.
 *
 * <p>{@link io.mortise.lock.testkit.history.RecordingLock} and {@link io.mortise.lock.testkit.history.HolderProcess} record
 * events, {@link io.mortise.lock.testkit.history.HistoryChecker} checks them. This package does not depend on a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.history;

import org.jspecify.annotations.NullMarked;
