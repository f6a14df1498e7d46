// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.List;
import java.util.function.Supplier;

/** Lists the test beds, one for each store that can be benchmarked. */
public final class TestBeds {
    private TestBeds() {}

    /**
     * A test bed whose store is not running yet.
     *
     * @param name the name for {@code --backend}
     * @param competitors returns what {@link TestBed#competitors} will return
     * @param start starts the store
     */
    public record Startable(String name, Supplier<List<Competitor>> competitors, Supplier<TestBed> start) {}

    /** Returns all test beds, in the order in which they are run. */
    public static List<Startable> all() {
        return List.of(
                new Startable(MemoryTestBed.NAME, () -> MemoryTestBed.COMPETITORS, MemoryTestBed::new),
                new Startable(ZooKeeperTestBed.NAME, () -> ZooKeeperTestBed.COMPETITORS, ZooKeeperTestBed::new),
                new Startable(RedisTestBed.NAME, () -> RedisTestBed.COMPETITORS, RedisTestBed::new),
                new Startable(RedlockTestBed.NAME, () -> RedlockTestBed.COMPETITORS, RedlockTestBed::new),
                new Startable(EtcdTestBed.NAME, () -> EtcdTestBed.COMPETITORS, EtcdTestBed::new));
    }
}
