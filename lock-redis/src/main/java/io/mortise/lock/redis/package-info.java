// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on Redis 6 or newer, and on Valkey. The store keeps a fair queue; an acquire and a release take one request each. These
 * locks and clients that follow the documented {@code SET key value NX PX} pattern exclude each other on the same key.
 */
@NullMarked
package io.mortise.lock.redis;

import org.jspecify.annotations.NullMarked;
