// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * Identity of one call to acquire a lock, which all events of the call carry.
 *
 * @param process who asked; a process that is started again gets another name
 * @param ask tells the asks of one process apart
 */
public record AcquireCallId(String process, String lock, long ask) {}
