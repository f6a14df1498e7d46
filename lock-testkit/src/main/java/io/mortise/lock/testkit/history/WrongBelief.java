// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import java.time.Duration;

/**
 * A holder was frozen while its lock was granted to another: from that grant until it looked, was told or released, its
 * program stood on a look of before. No lock can prevent it; the fenced resource must refuse what it writes (S3).
 *
 * @param holder the frozen one
 * @param successor the other
 * @param lasted how long at least
 */
public record WrongBelief(Call holder, Call successor, Duration lasted) {}
