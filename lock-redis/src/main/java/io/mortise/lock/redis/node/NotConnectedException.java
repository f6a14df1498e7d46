// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisException;
import io.mortise.lock.redis.client.RedisErrors;

/** Thrown when a request could not be sent because there is no connection. */
final class NotConnectedException extends RedisException {
    private static final long serialVersionUID = 1;

    NotConnectedException(Throwable cause) {
        super(RedisErrors.reason(cause), cause);
    }
}
