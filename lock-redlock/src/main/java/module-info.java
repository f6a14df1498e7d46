// SPDX-License-Identifier: Apache-2.0
/** Locks on a majority of independent Redis masters. */
module io.mortise.lock.redlock {
    requires transitive io.mortise.lock;
    requires transitive io.mortise.lock.redis;
    requires static transitive org.jspecify;
    requires static com.google.errorprone.annotations;

    exports io.mortise.lock.redlock;
}
