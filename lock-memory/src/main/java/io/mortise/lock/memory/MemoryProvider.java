// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.util.Set;

/**
 * Opens the in-memory backend for URLs of the form {@code memory:NAME}. They name a {@linkplain MemoryStore#named store} of
 * this JVM, and have no parameters.
 */
public final class MemoryProvider implements LockProvider {
    /** Creates the provider; {@link java.util.ServiceLoader} calls it. */
    public MemoryProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public Set<String> parameters() {
        return Set.of();
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        if (url.path().isEmpty() || url.toString().startsWith("memory://")) {
            throw new LockConfigurationException("\"" + url + "\" names no store: expected memory:NAME");
        }
        MemoryStore store = MemoryStore.named(url.path());
        return new MemoryBackend(store, store.newClientFaults(), context);
    }
}
