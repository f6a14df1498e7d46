// SPDX-License-Identifier: Apache-2.0
/**
 * The SPI for backends, which connect Mortise to a store.
 *
 * <p>A backend implements {@link io.mortise.lock.spi.LockBackend}, the full SPI, or {@link io.mortise.lock.spi.LeaseStore}, the
 * simple SPI for a store that only supports compare-and-set.
 */
@NullMarked
package io.mortise.lock.spi;

import org.jspecify.annotations.NullMarked;
