// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Benchmark competitor that locks with a hand-written implementation of the published Redlock algorithm. It sends requests to
 * all masters in parallel. It has no fencing tokens, and neither renews its lease nor handles failures; a client without a
 * majority releases its keys and retries after a random pause of about a millisecond.
 */
final class RawRedlockCompetitor implements Competitor {
    static final String NAME = "raw";

    private static final long MAX_PAUSE_NANOS = 2_000_000;

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Lettuce " + LibraryVersions.of("lettuce-core")
                + ": SET NX PX, EVALSHA, on a majority; retries every millisecond";
    }

    @Override
    public boolean polls() {
        return true;
    }

    @Override
    public CompetitorSession open(String endpoint) {
        RawMasterConnections masters = new RawMasterConnections(endpoint);
        String release = masters.load(RawLettuceCompetitor.RELEASE);
        SetArgs ifFree = SetArgs.Builder.nx().px(RawLettuceCompetitor.LEASE_MILLIS);
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) {
                String key = "raw:" + lock;
                while (true) {
                    String value =
                            String.format("%016x", ThreadLocalRandom.current().nextLong())
                                    + "-".repeat(RedisTestBed.VALUE_LENGTH - 16);
                    long start = System.nanoTime();
                    Keys keys = new Keys(masters, release, key, value);
                    if (masters.majority(commands -> commands.set(key, value, ifFree), Objects::nonNull)
                            && System.nanoTime() - start
                                    < TimeUnit.MILLISECONDS.toNanos(RawLettuceCompetitor.LEASE_MILLIS)) {
                        return keys;
                    }
                    keys.releaseAsync();
                    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MAX_PAUSE_NANOS));
                }
            }

            @Override
            public void close() {
                masters.close();
            }
        };
    }

    private record Keys(RawMasterConnections masters, String script, String key, String value) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() {
            if (!delete().join()) {
                throw new IllegalStateException("the lease on " + key + " had ended");
            }
        }

        @Override
        public void releaseAsync() {
            CompletableFuture<Boolean> unused = delete();
        }

        private CompletableFuture<Boolean> delete() {
            return masters.majorityAsync(
                    commands -> commands.<Long>evalsha(script, ScriptOutputType.INTEGER, new String[] {key}, value),
                    deleted -> deleted == 1);
        }
    }
}
