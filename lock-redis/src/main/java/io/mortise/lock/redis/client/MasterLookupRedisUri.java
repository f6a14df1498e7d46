// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.RedisURI;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A Redis URI, copied from a given one, that looks up the current address of the master for each new connection. */
public final class MasterLookupRedisUri extends RedisURI {
    private static final long serialVersionUID = 1;

    private transient @Nullable Supplier<? extends CompletionStage<SocketAddress>> lookup;

    /** Copies the URI and its sentinels as they are now. */
    public MasterLookupRedisUri(RedisURI source) {
        super(source);
    }

    /** Sets the lookup that each new connection uses. Without a lookup, Lettuce queries one sentinel after the other. */
    public void lookUpBy(Supplier<? extends CompletionStage<SocketAddress>> address) {
        lookup = address;
    }

    /** Returns the lookup; null if none was set. */
    @Nullable
    Supplier<? extends CompletionStage<SocketAddress>> lookup() {
        return lookup;
    }
}
