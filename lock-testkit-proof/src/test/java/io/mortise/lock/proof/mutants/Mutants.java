// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import java.util.List;
import java.util.stream.Stream;

/** All deliberately defective backends and clients that the conformance kit must detect. */
final class Mutants {
    /** Mutants that wrap a backend or a client. */
    static final List<WrapperMutant> WRAPPERS = Stream.of(
                    GrantMutants.all(),
                    ReleaseMutants.all(),
                    LossMutants.all(),
                    WithdrawalMutants.all(),
                    WaitingMutants.all(),
                    NameMutants.all(),
                    OutageMutants.all(),
                    OperatorMutants.all(),
                    LinkMutants.all(),
                    CallMutants.all())
            .flatMap(List::stream)
            .toList();

    private Mutants() {}

    /** Returns all mutants: those that wrap, and those that patch the source. */
    static List<Mutant> all() {
        return Stream.<Mutant>concat(WRAPPERS.stream(), PatchMutant.all().stream())
                .toList();
    }
}
