// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.lettuce.core.RedisURI;
import java.net.SocketAddress;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A copy of all that a URI says, sentinels included; the builder's copy leaves those out. */
public final class OwnUri extends RedisURI {
    private static final long serialVersionUID = 1;

    private transient @Nullable Supplier<? extends CompletionStage<SocketAddress>> lookup;

    /** As that one is now. */
    public OwnUri(RedisURI source) {
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
