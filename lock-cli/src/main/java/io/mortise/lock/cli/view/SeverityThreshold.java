// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin.Finding.Severity;

/** The lowest severity of a finding at which {@code lockctl doctor} exits with a failure. */
enum SeverityThreshold {
    warning(Severity.WARNING),
    error(Severity.ERROR);

    final Severity lowest;

    SeverityThreshold(Severity lowest) {
        this.lowest = lowest;
    }
}
