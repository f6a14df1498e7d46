// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.spi.LockName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Validates a lock name on the command line. Rule S13. */
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
