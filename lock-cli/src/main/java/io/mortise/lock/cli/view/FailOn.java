// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin.Finding.Severity;

/** The least severity of a finding that makes doctor fail, as it is written on the command line. */
enum FailOn {
    warning(Severity.WARNING),
    error(Severity.ERROR);

    final Severity least;

    FailOn(Severity least) {
        this.least = least;
    }
}
