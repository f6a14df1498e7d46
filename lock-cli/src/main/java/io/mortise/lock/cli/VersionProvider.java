// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** Provides the output of {@code lockctl --version}. */
final class VersionProvider implements IVersionProvider {
    @Override
    public String[] getVersion() {
        // The version is in the manifest of the jar; an IDE's class folder has none.
        String version =
                Objects.requireNonNullElse(LockCtl.class.getPackage().getImplementationVersion(), "unpackaged");
        return new String[] {"lockctl " + version + ", Java " + Runtime.version()};
    }
}
