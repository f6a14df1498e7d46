// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** Supplies the version that {@code benchmark --version} and the reports show. */
final class BenchmarkVersion implements IVersionProvider {
    /** Returns the version in the jar's manifest; a class directory, as in an IDE, has none. */
    static String mortise() {
        return Objects.requireNonNullElse(BenchmarkVersion.class.getPackage().getImplementationVersion(), "unpackaged");
    }

    @Override
    public String[] getVersion() {
        return new String[] {"benchmark of Mortise " + mortise() + ", Java " + Runtime.version()};
    }
}
