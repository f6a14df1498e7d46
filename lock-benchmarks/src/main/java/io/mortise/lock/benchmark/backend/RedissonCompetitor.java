// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Benchmark competitor that locks with Redisson's {@code RLock} on one Redis server. */
final class RedissonCompetitor implements Competitor {
    static final String NAME = "redisson";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Redisson " + LibraryVersions.of("redisson") + " RLock, renewed by its watchdog";
    }

    @Override
    public CompetitorSession open(String endpoint) {
        Config config = new Config();
        config.setLockWatchdogTimeout(RedisTestBed.LEASE.toMillis());
        config.useSingleServer().setAddress("redis://" + endpoint);
        RedissonClient client = Redisson.create(config);
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) {
                RLock granted = client.getLock("redisson:" + lock);
                granted.lock();
                return new Granted(granted);
            }

            @Override
            public void close() {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        };
    }

    record Granted(RLock lock) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() {
            lock.unlock();
        }

        @Override
        public void releaseAsync() {
            lock.unlockAsync();
        }
    }
}
