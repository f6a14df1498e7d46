// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** Provides the text of {@code lockctl --version}. */
final class VersionProvider implements IVersionProvider {
    @Override
    public String[] getVersion() {
        // Only a jar has a manifest; a class folder of an IDE does not.
        String version =
                Objects.requireNonNullElse(LockCtl.class.getPackage().getImplementationVersion(), "unpackaged");
        return new String[] {"lockctl " + version + ", Java " + Runtime.version()};
    }
}
