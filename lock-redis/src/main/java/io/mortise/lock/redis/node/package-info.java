// SPDX-License-Identifier: Apache-2.0
/**
 * Internal: One Redis server and the connection to it, on which replies and messages come in the server's order (ADR 0020).
 */
@NullMarked
package io.mortise.lock.redis.node;

import org.jspecify.annotations.NullMarked;
