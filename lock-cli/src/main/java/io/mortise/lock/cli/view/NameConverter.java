// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.spi.LockName;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A lock's name, which no store is asked for if it cannot be one (S13). */
final class NameConverter implements ITypeConverter<String> {
    @Override
    public String convert(String value) {
        try {
            return new LockName(value).value();
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
