// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.util.function.UnaryOperator;

/** A client whose leases are wrong. */
final class WrongLeasesClient extends ForwardingClient {
    private final UnaryOperator<Lease> dress;

    WrongLeasesClient(LockClient honest, UnaryOperator<Lease> dress) {
        super(honest);
        this.dress = dress;
    }

    @Override
    Lease lease(Lease honest) {
        return dress.apply(honest);
    }
}
