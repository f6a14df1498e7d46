// SPDX-License-Identifier: Apache-2.0
/** Metrics of locks for Micrometer, and spans of waits by its Observation API. */
module io.mortise.lock.micrometer {
    requires transitive io.mortise.lock;
    requires transitive micrometer.core;
    requires transitive micrometer.observation;
    requires micrometer.commons;
    requires static transitive org.jspecify;

    exports io.mortise.lock.micrometer;
}
