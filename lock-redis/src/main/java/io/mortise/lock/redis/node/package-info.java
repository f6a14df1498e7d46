// SPDX-License-Identifier: Apache-2.0
/**
 * Internal: The client of one Redis server. Its single connection delivers replies and messages in the server's order (ADR
 * 0020).
 */
@NullMarked
package io.mortise.lock.redis.node;

import org.jspecify.annotations.NullMarked;
