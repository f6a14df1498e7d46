// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

/** Throws also what Java lets a method throw only if it says so, as code in Kotlin or Scala does. */
public final class UndeclaredThrow {
    private UndeclaredThrow() {}

    /** Throws the exception or error. */
    public static void of(Throwable any) {
        UndeclaredThrow.<RuntimeException>unchecked(any);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void unchecked(Throwable any) throws E {
        throw (E) any;
    }
}
