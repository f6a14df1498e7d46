// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.spi.LockProvider;
import java.util.Iterator;
import java.util.ServiceLoader;

/** The URL schemes of all backends, as candidates for shell completion. */
final class UrlSchemeCandidates implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
        return ServiceLoader.load(LockProvider.class).stream()
                .flatMap(provider -> provider.get().schemes().stream())
                .map(scheme -> scheme + (scheme.equals("memory") ? ":" : "://"))
                .sorted()
                .iterator();
    }
}
