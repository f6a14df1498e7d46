// SPDX-License-Identifier: Apache-2.0
/** The lock API for applications, the SPI for backends, and the core that connects them. */
module io.mortise.lock {
    requires org.slf4j;
    requires static transitive org.jspecify;
    requires static jdk.jfr; // a runtime image without it records no events
    requires static com.google.errorprone.annotations;

    exports io.mortise.lock;
    exports io.mortise.lock.connect;
    exports io.mortise.lock.recipe;
    exports io.mortise.lock.spi;
    exports io.mortise.lock.spi.session;
    exports io.mortise.lock.spi.support;
    exports io.mortise.lock.spi.testing;

    uses io.mortise.lock.spi.LockProvider;
}
