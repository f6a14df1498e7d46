// SPDX-License-Identifier: Apache-2.0
/**
 * Locks in Spring Framework 6.2 and 7.0.
 *
 * <p>{@link io.mortise.lock.spring.EnableLocking} turns on {@link io.mortise.lock.spring.Locked}, which runs a method of a bean
 * while a lock is held. {@link io.mortise.lock.spring.LockTemplate} does the same without annotations. Both hold the lease until
 * a surrounding transaction has completed, and roll a transaction back if the lease was lost before its commit.
 */
@NullMarked
package io.mortise.lock.spring;

import org.jspecify.annotations.NullMarked;
