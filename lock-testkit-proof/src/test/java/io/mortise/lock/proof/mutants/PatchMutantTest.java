// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import org.junit.jupiter.api.Tag;

/** Tests the mutants that change the source of the store, of its connection or of the client. */
@Tag("long")
@Tag("once")
class PatchMutantTest extends MutantTrials {
    PatchMutantTest() {
        super(PatchMutant.all());
    }
}
