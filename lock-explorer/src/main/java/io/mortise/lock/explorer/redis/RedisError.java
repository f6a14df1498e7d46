// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer.redis;

/**
 * An error reply.
 *
 * @param message the message with its code, such as {@code WRONGTYPE …}
 */
public record RedisError(String message) {}
