// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Benchmark competitor that locks with {@code SET NX PX} and unlocks with a compare-and-delete script, through plain Lettuce.
 * It has no fencing tokens, and neither renews its lease nor handles failures; a client that finds the lock taken retries a
 * millisecond later.
 */
final class RawLettuceCompetitor implements Competitor {
    static final String NAME = "raw";

    static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private static final long PAUSE_NANOS = 1_000_000;

    /** Lease duration without renewal; longer than any scenario holds a lock. */
    static final long LEASE_MILLIS = 60_000;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Lettuce " + LibraryVersions.of("lettuce-core")
                + ": SET NX PX, EVALSHA to delete; retries every millisecond";
    }

    @Override
    public boolean polls() {
        return true;
    }

    @Override
    public CompetitorSession open(String endpoint) {
        RedisClient client = RedisClient.create(RedisTestBed.uri(endpoint));
        StatefulRedisConnection<String, String> connection = client.connect();
        String release = connection.sync().scriptLoad(RELEASE);
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) {
                RedisCommands<String, String> commands = connection.sync();
                String key = "raw:" + lock;
                String value =
                        String.format("%016x", ThreadLocalRandom.current().nextLong())
                                + "-".repeat(RedisTestBed.VALUE_LENGTH - 16);
                SetArgs ifFree = SetArgs.Builder.nx().px(LEASE_MILLIS);
                while (commands.set(key, value, ifFree) == null) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
                return new Key(connection, release, key, value);
            }

            @Override
            public void close() {
                client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
            }
        };
    }

    private record Key(StatefulRedisConnection<String, String> connection, String script, String key, String value)
            implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() {
            Long deleted = connection.sync().evalsha(script, ScriptOutputType.INTEGER, new String[] {key}, value);
            if (deleted != 1) {
                throw new IllegalStateException("the lease on " + key + " had ended");
            }
        }

        @Override
        public void releaseAsync() {
            RedisFuture<Long> unused =
                    connection.async().evalsha(script, ScriptOutputType.INTEGER, new String[] {key}, value);
        }
    }
}
