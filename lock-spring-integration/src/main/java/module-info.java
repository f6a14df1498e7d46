// SPDX-License-Identifier: Apache-2.0
/** A lock registry for Spring Integration: {@link io.mortise.lock.spring.integration.MortiseLockRegistry}. */
module io.mortise.lock.spring.integration {
    requires transitive io.mortise.lock;
    requires transitive spring.integration.core;
    requires static transitive org.jspecify;

    exports io.mortise.lock.spring.integration;
}
