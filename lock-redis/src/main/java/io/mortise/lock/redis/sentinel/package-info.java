// SPDX-License-Identifier: Apache-2.0
/** Internal: Finds the master that a majority of the sentinels names. See ADR 0030. */
@NullMarked
package io.mortise.lock.redis.sentinel;

import org.jspecify.annotations.NullMarked;
