// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses an integer option, and states the limits in the error message if the value is out of range. */
public abstract class BoundedInteger implements ITypeConverter<Integer> {
    private final int min;
    private final int max;

    BoundedInteger(int min, int max) {
        this.min = min;
        this.max = max;
    }

    @Override
    public Integer convert(String value) {
        try {
            int number = Integer.parseInt(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw new TypeConversionException("is " + value + ", must be a whole number from " + min + " to " + max);
    }

    /** Number of workers. */
    public static final class Workers extends BoundedInteger {
        /** Creates the converter for picocli. */
        public Workers() {
            super(2, 64);
        }
    }

    /** Number of items. */
    public static final class Items extends BoundedInteger {
        /** Creates the converter for picocli. */
        public Items() {
            super(1, 1_000_000);
        }
    }

    /** Number of processes. */
    public static final class Processes extends BoundedInteger {
        /** Creates the converter for picocli. */
        public Processes() {
            super(1, 64);
        }
    }

    /** Number of moves of money. */
    public static final class Moves extends BoundedInteger {
        /** Creates the converter for picocli. */
        public Moves() {
            super(1, 1_000_000);
        }
    }
}
