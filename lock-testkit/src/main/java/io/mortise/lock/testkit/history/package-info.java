// SPDX-License-Identifier: Apache-2.0
/**
 * Histories: what several processes saw of a lock, written down while it is worked and broken, and judged afterwards. {@link
 * io.mortise.lock.testkit.history.RecordingLock} and {@link io.mortise.lock.testkit.history.HolderProcess} record, {@link
 * io.mortise.lock.testkit.history.HistoryChecker} judges. Nothing here needs a test framework.
 */
@NullMarked
package io.mortise.lock.testkit.history;

import org.jspecify.annotations.NullMarked;
