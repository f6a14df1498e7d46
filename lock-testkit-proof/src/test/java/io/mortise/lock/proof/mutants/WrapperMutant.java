// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.LockClient;
import io.mortise.lock.spi.LockBackend;
import java.util.List;

/**
 * A mutant that wraps a correct backend or client, as an author could write it without the source of either.
 *
 * @param defect description of the defect
 * @param rule the rule that the mutant breaks, such as S05; for tests of no numbered rule, the prefix of their names
 * @param killer name of the test of the kit that must fail
 * @param backend wraps the backend, between the core and the store
 * @param client wraps the client, between the core and its users
 */
record WrapperMutant(String defect, String rule, String killer, WrongBackend backend, WrongClient client)
        implements Mutant {
    /** Has no defect, but the same forwarding layers as a mutant. */
    static final WrapperMutant NONE =
            new WrapperMutant("no defect", "", "", ForwardingBackend::new, ForwardingClient::new);

    /** Wraps a backend so that it has a defect, between the core and the store. */
    interface WrongBackend {
        LockBackend over(LockBackend delegate, MutantConnection connection);
    }

    /** Wraps a client so that it has a defect, as a backend without the core could have. */
    interface WrongClient {
        LockClient over(LockClient delegate);
    }

    static WrapperMutant backend(String rule, String defect, String killer, WrongBackend backend) {
        return new WrapperMutant(defect, rule, killer, backend, ForwardingClient::new);
    }

    static WrapperMutant client(String rule, String defect, String killer, WrongClient client) {
        return new WrapperMutant(defect, rule, killer, ForwardingBackend::new, client);
    }

    @Override
    public List<Class<?>> conformance() {
        return List.of(MutantConformance.class);
    }

    @Override
    public Class<?> control() {
        return MutantConformance.class;
    }

    @Override
    public String toString() {
        return rule + ": " + defect;
    }
}
