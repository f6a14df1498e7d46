// SPDX-License-Identifier: Apache-2.0
/** A lock provider for ShedLock: {@link io.mortise.lock.shedlock.MortiseLockProvider}. */
module io.mortise.lock.shedlock {
    requires transitive io.mortise.lock;
    requires transitive net.javacrumbs.shedlock.core;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports io.mortise.lock.shedlock;
}
