// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Runs the conformance tests on the mutant that the JUnit configuration parameter {@link #MUTANT} names.
 *
 * <p>The class name does not end in Test, so that Surefire does not run it on its own.
 */
@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // does not wait for a mutant that hangs
@ExtendWith(MutantConformance.MutantResolver.class)
class MutantConformance extends LockConformance {
    static final String MUTANT = "mortise.mutant";

    private final WrapperMutant mutant;

    MutantConformance(WrapperMutant mutant) {
        this.mutant = mutant;
    }

    @Override
    protected BackendUnderTest backend() {
        return new MutantBackendUnderTest(mutant);
    }

    static final class MutantResolver implements ParameterResolver {
        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == WrapperMutant.class;
        }

        @Override
        public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
            String name = context.getConfigurationParameter(MUTANT).orElse("");
            return Mutants.WRAPPERS.stream()
                    .filter(mutant -> mutant.toString().equals(name))
                    .findAny()
                    .orElse(WrapperMutant.NONE);
        }
    }
}
