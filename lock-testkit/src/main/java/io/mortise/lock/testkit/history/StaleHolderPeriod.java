// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * A frozen holder whose lock was granted to another: from that grant until it noticed. No lock can prevent it; the fenced
 * resource must refuse what it writes (S3).
 *
 * @param holder the frozen one
 * @param successor the other
 * @param lasted how long at least
 */
public record StaleHolderPeriod(AcquireCallId holder, AcquireCallId successor, Duration lasted) {}
