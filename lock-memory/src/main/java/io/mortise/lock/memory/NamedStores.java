// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** The registry of the named stores of this JVM. It references them weakly, so that it does not grow (S17). */
final class NamedStores {
    private static final Map<String, WeakReference<MemoryStore>> STORES = new HashMap<>(); // guarded by itself

    /** The token counter of all named stores, so that tokens increase even if a store is collected and created again (S3). */
    private static final AtomicLong TOKENS = new AtomicLong();

    private NamedStores() {}

    static MemoryStore get(String name) {
        synchronized (STORES) {
            STORES.values().removeIf(reference -> reference.refersTo(null));
            WeakReference<MemoryStore> reference = STORES.get(name);
            MemoryStore known = reference == null ? null : reference.get();
            if (known == null) {
                known = new MemoryStore("memory:" + name, null, TOKENS);
                STORES.put(name, new WeakReference<>(known));
            }
            return known;
        }
    }
}
