// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.explorer;

/**
 * A protocol with a planted defect, which an exploration must find.
 *
 * @param <C> the scopes
 * @param name names the test
 * @param violation how the violation begins that must be found: with its rule, such as {@code "S08"}
 * @param scope the scope in which it is found, with the defect
 */
public record Defect<C>(String name, String violation, C scope) {
    @Override
    public String toString() {
        return name;
    }
}
