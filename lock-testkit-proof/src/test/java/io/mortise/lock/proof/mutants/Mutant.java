// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockBackend;

/**
 * One wrong backend.
 *
 * @param defect what it does wrong, in words
 * @param rule the one rule that it breaks: S05, or the word that begins the names of tests of no numbered rule
 * @param killer the test of the kit that must fail
 */
record Mutant(String defect, String rule, String killer, WrongBackend backend, WrongClient client) {
    /** Breaks nothing: the same layers as a mutant, without its defect. */
    static final Mutant NONE = new Mutant("no defect", "", "", ForwardingBackend::new, ForwardingClient::new);

    /** A defect of what a backend implements: between the core and the store. */
    interface WrongBackend {
        LockBackend over(LockBackend honest, MutantConnection connection);
    }

    /** A defect that users would see of a backend that came without the core. */
    interface WrongClient {
        LockClient over(LockClient honest);
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
