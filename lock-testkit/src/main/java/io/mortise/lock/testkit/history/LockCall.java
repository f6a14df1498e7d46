// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * One call to acquire one lock: what its events have in common.
 *
 * @param process who asked; a process that is started again gets another name
 * @param ask tells the asks of one process apart
 */
public record LockCall(String process, String lock, long ask) {}
