// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * Identifies one call that acquires a lock; all events of the call carry this id.
 *
 * @param process name of the calling process; a process that is started again gets another name
 * @param lock name of the lock
 * @param number number of the call, unique within the process
 */
public record AcquireCallId(String process, String lock, long number) {}
