// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import java.util.List;
import java.util.stream.Stream;

/** All deliberately defective backends and clients that the conformance kit must detect. */
final class Mutants {
    static final List<Mutant> ALL = Stream.of(
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
}
