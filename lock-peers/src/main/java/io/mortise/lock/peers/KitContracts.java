// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.testkit.LockConformance;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the contract of the conformance kit that declares a test, so that all its tests can be judged alike. */
final class KitContracts {
    private static final String SUFFIX = "Contract";

    private static final Map<String, String> CONTRACTS = Arrays.stream(LockConformance.class.getMethods())
            .filter(method -> method.getDeclaringClass().getSimpleName().endsWith(SUFFIX))
            .collect(Collectors.toMap(Method::getName, KitContracts::contract, (first, second) -> first));

    private KitContracts() {}

    private static String contract(Method method) {
        String name = method.getDeclaringClass().getSimpleName();
        return name.substring(0, name.length() - SUFFIX.length());
    }

    /** Returns the contract of a test without the suffix, such as {@code Waiting}; empty if the kit has no such test now. */
    static Optional<String> of(String test) {
        return Optional.ofNullable(CONTRACTS.get(test));
    }

    /**
     * Returns a pattern of the names of all tests of these contracts.
     *
     * @throws IllegalArgumentException if the kit has no such contract, as after a renaming
     */
    static String testsOf(String... contracts) {
        for (String contract : contracts) {
            if (!CONTRACTS.containsValue(contract)) {
                throw new IllegalArgumentException("the kit has no tests of " + contract + SUFFIX);
            }
        }
        return CONTRACTS.entrySet().stream()
                .filter(entry -> List.of(contracts).contains(entry.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.joining("|"));
    }
}
