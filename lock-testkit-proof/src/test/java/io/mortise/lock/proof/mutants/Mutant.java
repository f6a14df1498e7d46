// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import java.io.IOException;
import java.util.List;

/** A backend or client with one deliberate defect that the conformance kit must detect. */
sealed interface Mutant permits WrapperMutant, PatchMutant {
    /** Returns a description of the defect. */
    String defect();

    /** Returns the rule that the mutant breaks, such as S05; for tests of no numbered rule, the prefix of their names. */
    String rule();

    /** Returns the name of the test of the kit that must fail. */
    String killer();

    /** Returns what the explorations of the protocols say of the defect, for the table; empty if it is not in a protocol. */
    default String explored() {
        return "";
    }

    /** Returns new classes whose tests are those of the kit, each on a backend that contains the defect. */
    List<Class<?>> conformance() throws IOException;

    /** Returns the class whose tests are those of the kit, on the same backend without the defect. */
    Class<?> control();
}
