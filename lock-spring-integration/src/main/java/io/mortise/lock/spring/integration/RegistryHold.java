// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import io.mortise.lock.LeaseLock;
import java.time.Duration;
import java.util.Optional;

/**
 * A lock that a thread holds, once or several times.
 *
 * @param lock the lock, which counts the holds of the thread
 * @param timeToLive the maximum hold of its lease; empty if there is none
 */
record RegistryHold(LeaseLock lock, Optional<Duration> timeToLive) {}
