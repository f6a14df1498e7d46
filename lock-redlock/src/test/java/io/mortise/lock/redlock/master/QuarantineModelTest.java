// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Checks every sequence of losses, restarts, quarantines, grants, renewals and recovered votes. */
class QuarantineModelTest {
    private static final int LONGEST = Collections.max(QuarantineModel.LEASES);

    @Test
    void S01_noSequenceOfLossesLeadsToTwoHolders() {
        assertThat(new QuarantineModel(LONGEST, true).violation()).isEmpty();
    }

    /** The uptime of a master whose data was deleted says nothing. */
    @Test
    void S01_quarantineFromProcessStartWouldAllowTwoHolders() {
        assertThat(new QuarantineModel(LONGEST, false).violation()).isPresent();
    }

    /** As it would be if only the leases of the clients that are present counted. */
    @Test
    void S01_quarantineForKnownLeasesOnlyWouldAllowTwoHolders() {
        assertThat(new QuarantineModel(LONGEST - 1, true).violation()).isPresent();
    }
}
