// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.cli.invocation.ExitCodes;

/**
 * The result of work under a lease.
 *
 * @param code the exit code of lockctl, which may be {@link ExitCodes#LOST} also because the command has chosen it
 * @param lost whether the lock was lost, or the work was ended because the lease was about to expire, and this is reported
 */
record WorkResult(int code, boolean lost) {
    static final WorkResult LOST = new WorkResult(ExitCodes.LOST, true);

    static WorkResult of(int code) {
        return new WorkResult(code, false);
    }
}
