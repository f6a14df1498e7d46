// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisURI;

/** A copy of all that a URI says, sentinels included; the builder's copy leaves those out. */
public final class OwnUri extends RedisURI {
    private static final long serialVersionUID = 1;

    /** As that one is now. */
    public OwnUri(RedisURI source) {
        super(source);
    }
}
