// SPDX-License-Identifier: Apache-2.0
/**
 * The lock API for applications.
 *
 * <p>{@link io.mortise.lock.connect.Locks} opens a {@link io.mortise.lock.LockClient}, the client returns a
 * {@link io.mortise.lock.DistributedLock} by name, and acquiring the lock returns a {@link io.mortise.lock.Lease}. Rule numbers
 * such as S7 refer to {@code docs/semantics.md}.
 */
@NullMarked
package io.mortise.lock;

import org.jspecify.annotations.NullMarked;
