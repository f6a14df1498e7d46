// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

/**
 * One call for one lock: what all events of its ask, its grant and its end have in common.
 *
 * @param process who asked; a process that is started again gets another name
 * @param ask tells the asks of one process apart
 */
public record Call(String process, String lock, long ask) {}
