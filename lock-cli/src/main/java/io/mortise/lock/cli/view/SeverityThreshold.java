// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin.Finding.Severity;

/** Least severity of a finding that makes {@code doctor} fail. */
enum SeverityThreshold {
    warning(Severity.WARNING),
    error(Severity.ERROR);

    final Severity least;

    SeverityThreshold(Severity least) {
        this.least = least;
    }
}
