// SPDX-License-Identifier: Apache-2.0
/**
 * Interfaces that a backend implements: {@link io.mortise.lock.spi.LockBackend}, the full SPI, or
 * {@link io.mortise.lock.spi.LeaseStore}, the simple one, for a store that only knows compare-and-set.
 */
@NullMarked
package io.mortise.lock.spi;

import org.jspecify.annotations.NullMarked;
