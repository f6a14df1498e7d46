// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A whole number within limits, which the error names. */
abstract class BoundedInteger implements ITypeConverter<Integer> {
    private final int least;
    private final int most;

    BoundedInteger(int least, int most) {
        this.least = least;
        this.most = most;
    }

    @Override
    public Integer convert(String value) {
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // the same message serves
        }
        throw new TypeConversionException("is " + value + ", must be a whole number from " + least + " to " + most);
    }

    static final class Workers extends BoundedInteger {
        Workers() {
            super(2, 64);
        }
    }

    static final class Items extends BoundedInteger {
        Items() {
            super(1, 1_000_000);
        }
    }
}
