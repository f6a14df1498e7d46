// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisException;

/** Nothing could be sent at all. */
final class NotOpen extends RedisException {
    private static final long serialVersionUID = 1;

    NotOpen(Throwable cause) {
        super(RedisFailure.reason(cause), cause);
    }
}
