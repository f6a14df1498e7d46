// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** The kit over the mutant that {@link #MUTANT} names. Its name keeps it from being run by itself. */
@Timeout(value = 15, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a mutant that hangs is cut off, not waited for
@ExtendWith(MutantConformance.Choice.class)
class MutantConformance extends LockConformance {
    static final String MUTANT = "mortise.mutant";

    private final Mutant mutant;

    MutantConformance(Mutant mutant) {
        this.mutant = mutant;
    }

    @Override
    protected BackendUnderTest backend() {
        return new MutantStore(mutant);
    }

    static final class Choice implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == Mutant.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            String wanted = context.getConfigurationParameter(MUTANT).orElse("");
            return Mutants.ALL.stream()
                    .filter(mutant -> mutant.toString().equals(wanted))
                    .findAny()
                    .orElse(Mutant.NONE);
        }
    }
}
