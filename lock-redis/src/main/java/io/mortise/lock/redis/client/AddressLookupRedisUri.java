// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.RedisURI;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A copy of a URI, sentinels included, that can look up the server's address for each connection. */
public final class AddressLookupRedisUri extends RedisURI {
    private static final long serialVersionUID = 1;

    private transient @Nullable Supplier<? extends CompletionStage<SocketAddress>> lookup;

    /** As that one is now. */
    public AddressLookupRedisUri(RedisURI source) {
        super(source);
    }

    /** Has each connection ask this for the server's address. Otherwise Lettuce asks one sentinel after the other. */
    public void lookUpBy(Supplier<? extends CompletionStage<SocketAddress>> address) {
        lookup = address;
    }

    @Nullable
    Supplier<? extends CompletionStage<SocketAddress>> lookup() {
        return lookup;
    }
}
