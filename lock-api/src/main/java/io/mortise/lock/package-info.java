// SPDX-License-Identifier: Apache-2.0
/**
 * The lock API: {@link io.mortise.lock.connect.Locks} opens a {@link io.mortise.lock.LockClient}, a client names a
 * {@link io.mortise.lock.DistributedLock}, and acquiring it gives a {@link io.mortise.lock.Lease}. Rule numbers such as
 * S7 refer to {@code docs/semantics.md}.
 */
@NullMarked
package io.mortise.lock;

import org.jspecify.annotations.NullMarked;
