// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.spi.LockName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Converts and checks a lock's name on the command line (S13). */
final class LockNameConverter implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
        try {
            return new LockName(value).value();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
