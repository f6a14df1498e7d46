// SPDX-License-Identifier: Apache-2.0
/** Locks on a majority of independent Redis masters. */
module io.mortise.lock.redlock {
    requires transitive io.mortise.lock;
    requires transitive lettuce.core;
    requires io.mortise.lock.redis;
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static com.google.errorprone.annotations;

    exports io.mortise.lock.redlock;

    provides io.mortise.lock.spi.LockProvider with
            io.mortise.lock.redlock.RedlockProvider;
}
