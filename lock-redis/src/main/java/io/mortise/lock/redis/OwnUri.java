// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;

/** A copy of all that a URI says, sentinels included; the builder's copy leaves those out. */
final class OwnUri extends RedisURI {
    private static final long serialVersionUID = 1;

    OwnUri(RedisURI source) {
        super(source);
    }
}
