// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.master;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import org.junit.jupiter.api.Test;

/** Tests that no sequence of data losses, restarts and requests in {@link QuarantineModel} leads to two holders. */
class QuarantineModelTest {
    private static final int LONGEST = Collections.max(QuarantineModel.LEASES);

    @Test
    void S01_noSequenceOfLossesLeadsToTwoHolders() {
        assertThat(new QuarantineModel(LONGEST, true).violation()).isEmpty();
    }

    /** The uptime of a process does not show when its data was deleted. */
    @Test
    void S01_quarantineFromProcessStartWouldAllowTwoHolders() {
        assertThat(new QuarantineModel(LONGEST, false).violation()).isPresent();
    }

    /** Simulates a quarantine that considers only the leases of the connected clients. */
    @Test
    void S01_quarantineForKnownLeasesOnlyWouldAllowTwoHolders() {
        assertThat(new QuarantineModel(LONGEST - 1, true).violation()).isPresent();
    }
}
