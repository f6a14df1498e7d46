// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

final class BenchmarkVersion implements IVersionProvider {
    /** Only a jar has a manifest; a class folder of an IDE does not. */
    static String mortise() {
        return Objects.requireNonNullElse(BenchmarkVersion.class.getPackage().getImplementationVersion(), "unpackaged");
    }

    @Override
    public String[] getVersion() {
        return new String[] {"benchmark of Mortise " + mortise() + ", Java " + Runtime.version()};
    }
}
