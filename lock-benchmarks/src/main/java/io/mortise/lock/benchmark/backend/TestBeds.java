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
     * @param start starts the store
     */
    public record Startable(String name, Supplier<TestBed> start) {}

    /** Returns all test beds, in the order in which they are run. */
    public static List<Startable> all() {
        return List.of(
                new Startable(MemoryTestBed.NAME, MemoryTestBed::new),
                new Startable(ZooKeeperTestBed.NAME, ZooKeeperTestBed::new),
                new Startable(RedisTestBed.NAME, RedisTestBed::new),
                new Startable(RedlockTestBed.NAME, RedlockTestBed::new),
                new Startable(EtcdTestBed.NAME, EtcdTestBed::new));
    }
}
