// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import java.util.function.UnaryOperator;

/** A client that wraps each lease in a deliberately defective implementation. */
final class WrongLeasesClient extends ForwardingClient {
    private final UnaryOperator<Lease> wrapper;

    WrongLeasesClient(LockClient delegate, UnaryOperator<Lease> wrapper) {
        super(delegate);
        this.wrapper = wrapper;
    }

    @Override
    Lease lease(Lease delegate) {
        return wrapper.apply(delegate);
    }
}
