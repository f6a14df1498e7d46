// SPDX-License-Identifier: Apache-2.0
/**
 * Locks on Redis 6 or newer, and Valkey: a fair queue in the store, one request to acquire and one to release. Excludes
 * clients that follow the documented {@code SET key value NX PX} pattern on the same key, and is excluded by them.
 */
@NullMarked
package io.mortise.lock.redis;

import org.jspecify.annotations.NullMarked;
