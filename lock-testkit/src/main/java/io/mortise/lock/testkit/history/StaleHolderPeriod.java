// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * A period in which a frozen holder did not know that its lock had been granted to another holder.
 *
 * <p>The period lasts from that grant until the holder detects its loss. No lock service can prevent it; the fenced resource
 * must reject the holder's writes (S3).
 *
 * @param holder the call of the frozen holder
 * @param successor the call that was granted the lock next
 * @param lasted minimum length of the period
 */
public record StaleHolderPeriod(AcquireCallId holder, AcquireCallId successor, Duration lasted) {}
