// SPDX-License-Identifier: Apache-2.0
/** The in-memory backend, for tests of applications and as the reference for other backends. */
module io.mortise.lock.memory {
    requires transitive io.mortise.lock;
    requires static transitive org.jspecify;

    exports io.mortise.lock.memory;

    provides io.mortise.lock.spi.LockProvider with
            io.mortise.lock.memory.MemoryProvider;
}
