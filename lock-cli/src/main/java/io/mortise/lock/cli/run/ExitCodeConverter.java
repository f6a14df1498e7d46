// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts an exit code on the command line. */
final class ExitCodeConverter implements ITypeConverter<Integer> {
    private static final int MOST = 255;

    @Override
    public Integer convert(String value) {
        try {
            int code = Integer.parseInt(value);
            if (code >= 0 && code <= MOST) {
                return code;
            }
        } catch (NumberFormatException e) {
            // the same message serves
        }
        throw new TypeConversionException("is " + value + ", must be a whole number from 0 to " + MOST);
    }
}
