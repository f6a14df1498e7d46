// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** Provides the backend {@code file-test:/folder}, which lockctl itself does not know. */
public final class FileTestProvider implements LockProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("file-test");
    }

    @Override
    public Set<String> parameters() {
        return Set.of();
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        Path dir = Path.of(url.path());
        if (!Files.isDirectory(dir)) {
            throw new BackendUnavailableException("no folder " + dir);
        }
        return new LeaseStoreBackend(new FileLeaseStore(dir, context.blocking()), context);
    }
}
