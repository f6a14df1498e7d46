// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains a start that failed in Mortise. */
final class LockFailureAnalyzer extends AbstractFailureAnalyzer<LockException> {
    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, LockException cause) {
        String action;
        if (cause instanceof BackendUnavailableException) {
            action =
                    "Start the store, or correct its address: mortise.url, or the connection of the application. If the store "
                            + "starts later than the application, raise mortise.connect-timeout.";
        } else if (cause instanceof BackendRefusedException) {
            action =
                    "Correct the credentials, permissions or TLS settings in mortise.url or in the connection of the application.";
        } else if (!(cause instanceof LockConfigurationException)) {
            return null; // not of the start: perhaps a runner that lost its lease
        } else {
            action = "Correct mortise.url, the annotation or the class path that the description names.";
        }
        return new FailureAnalysis(String.valueOf(cause.getMessage()), action, cause);
    }
}
