// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start without a unique store for the locks. */
final class LockConnectionFailureAnalyzer extends AbstractFailureAnalyzer<LockConnectionException> {
    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockConnectionException cause) {
        return new FailureAnalysis(
                cause.getMessage() + ".",
                "Set mortise.url, such as redis://localhost:6379, and add the module of the store: io.mortise:lock-redis, "
                        + "lock-redlock, lock-etcd or lock-zookeeper; in tests memory:test and io.mortise:lock-memory. Or define a "
                        + "LockClient bean. A connection of the application is found if it is a bean, and the module of its store "
                        + "is on the class path.",
                cause);
    }
}
