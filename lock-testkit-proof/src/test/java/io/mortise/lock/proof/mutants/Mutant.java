// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockBackend;

/**
 * A backend or client with one deliberate defect that the conformance kit must detect.
 *
 * @param defect description of the defect
 * @param rule the rule that the mutant breaks, such as S05; for tests of no numbered rule, the prefix of their names
 * @param killer name of the test of the kit that must fail
 * @param backend wraps the backend, between the core and the store
 * @param client wraps the client, between the core and its users
 */
record Mutant(String defect, String rule, String killer, WrongBackend backend, WrongClient client) {
    /** Has no defect, but the same forwarding layers as a mutant. */
    static final Mutant NONE = new Mutant("no defect", "", "", ForwardingBackend::new, ForwardingClient::new);

    /** Wraps a backend so that it has a defect, between the core and the store. */
    interface WrongBackend {
        LockBackend over(LockBackend delegate, MutantConnection connection);
    }

    /** Wraps a client so that it has a defect, as a backend without the core could have. */
    interface WrongClient {
        LockClient over(LockClient delegate);
    }

    static Mutant backend(String rule, String defect, String killer, WrongBackend backend) {
        return new Mutant(defect, rule, killer, backend, ForwardingClient::new);
    }

    static Mutant client(String rule, String defect, String killer, WrongClient client) {
        return new Mutant(defect, rule, killer, ForwardingBackend::new, client);
    }

    @Override
    public String toString() {
        return rule + ": " + defect;
    }
}
