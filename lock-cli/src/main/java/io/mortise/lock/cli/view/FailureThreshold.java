// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin.Finding.Severity;

/** Least severity of a finding that makes {@code doctor} fail. */
enum FailureThreshold {
    warning(Severity.WARNING),
    error(Severity.ERROR);

    final Severity least;

    FailureThreshold(Severity least) {
        this.least = least;
    }
}
