// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.List;
import java.util.function.Supplier;

/** All stores that can be measured. */
public final class TestBeds {
    private TestBeds() {}

    /**
     * One that is not running yet.
     *
     * @param name as {@code --backend} takes it
     * @param start starts the store
     */
    public record Startable(String name, Supplier<TestBed> start) {}

    /** In the order in which they are run. */
    public static List<Startable> all() {
        return List.of(
                new Startable(MemoryTestBed.NAME, MemoryTestBed::new),
                new Startable(ZooKeeperTestBed.NAME, ZooKeeperTestBed::new),
                new Startable(RedisTestBed.NAME, RedisTestBed::new),
                new Startable(RedlockTestBed.NAME, RedlockTestBed::new),
                new Startable(EtcdTestBed.NAME, EtcdTestBed::new));
    }
}
