// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.List;
import java.util.function.Supplier;

/** The backends that can be measured. */
public final class Backends {
    private Backends() {}

    /**
     * One that is not running yet.
     *
     * @param name as {@code --backend} takes it
     * @param start starts the store
     */
    public record Startable(String name, Supplier<Backend> start) {}

    /** In the order in which they are run. */
    public static List<Startable> all() {
        return List.of(
                new Startable(MemoryBackend.NAME, MemoryBackend::new),
                new Startable(ZooKeeperBackend.NAME, ZooKeeperBackend::new),
                new Startable(RedisBackend.NAME, RedisBackend::new),
                new Startable(RedlockBackend.NAME, RedlockBackend::new),
                new Startable(EtcdBackend.NAME, EtcdBackend::new));
    }
}
