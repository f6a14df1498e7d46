// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import io.mortise.lock.spi.LockName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Validates a lock name on the command line. Rules S13, S14. */
public final class LockNameConverter implements ITypeConverter<String> {
    /** The character that a decoder puts in place of bytes that it cannot decode. */
    private static final char REPLACEMENT = '\uFFFD';

    @Override
    public String convert(String value) {
        if (value.indexOf(REPLACEMENT) >= 0) { // it might mean another lock
            throw new TypeConversionException("lock name \"" + LockName.shown(value)
                    + "\" contains U+FFFD: it is not valid UTF-8, or the locale cannot represent it");
        }
        try {
            return new LockName(value).value();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
