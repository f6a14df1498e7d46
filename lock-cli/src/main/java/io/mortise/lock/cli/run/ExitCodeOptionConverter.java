// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses an exit code that is given as an option, and checks that it is between 0 and 255. */
final class ExitCodeOptionConverter implements ITypeConverter<Integer> {
    private static final int MAX = 255;

    @Override
    public Integer convert(String value) {
        try {
            int code = Integer.parseInt(value);
            if (code >= 0 && code <= MAX) {
                return code;
            }
        } catch (NumberFormatException e) {
            // reported below, with the same message
        }
        throw new TypeConversionException("is " + value + ", must be a whole number from 0 to " + MAX);
    }
}
