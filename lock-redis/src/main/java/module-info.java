// SPDX-License-Identifier: Apache-2.0
/** Locks on Redis and Valkey. */
@SuppressWarnings("module") // lock-redlock is built after this one
module io.mortise.lock.redis {
    requires transitive io.mortise.lock;
    requires transitive lettuce.core;
    requires io.netty.buffer;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport;
    requires org.slf4j;
    requires reactor.core;
    requires static transitive org.jspecify;
    requires static com.google.errorprone.annotations;

    exports io.mortise.lock.redis;
    exports io.mortise.lock.redis.admin to
            io.mortise.lock.redlock;
    exports io.mortise.lock.redis.client to
            io.mortise.lock.redlock;
    exports io.mortise.lock.redis.connect to
            io.mortise.lock.redlock;
    exports io.mortise.lock.redis.contender to
            io.mortise.lock.redlock;
    exports io.mortise.lock.redis.node to
            io.mortise.lock.redlock;
    exports io.mortise.lock.redis.script to
            io.mortise.lock.redlock;

    provides io.mortise.lock.spi.LockProvider with
            io.mortise.lock.redis.RedisProvider;
}
