// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Benchmark competitor that locks with Curator's {@code InterProcessMutex} on ZooKeeper. It creates a mutex for each acquire,
 * because a mutex that threads share sends far more requests.
 */
final class CuratorCompetitor implements Competitor {
    static final String NAME = "curator";

    private static final String BASE = "/curator/";

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "Curator " + LibraryVersions.of("curator-recipes")
                + " InterProcessMutex, a new object for each acquire; releases are awaited";
    }

    @Override
    public CompetitorSession open(String endpoint) throws Exception {
        int timeout = Math.toIntExact(ZooKeeperTestBed.SESSION.toMillis());
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(endpoint)
                .sessionTimeoutMs(timeout)
                .connectionTimeoutMs(timeout)
                .retryPolicy(new ExponentialBackoffRetry(100, 3))
                .defaultData(ZooKeeperTestBed.DATA)
                .build();
        client.start();
        if (!client.blockUntilConnected(timeout, TimeUnit.MILLISECONDS)) {
            client.close();
            throw new IllegalStateException(
                    "no ZooKeeper server replied at " + endpoint + " within " + timeout + " ms");
        }
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) throws Exception {
                InterProcessMutex mutex = new InterProcessMutex(client, BASE + lock);
                mutex.acquire();
                return new Mutex(mutex);
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private record Mutex(InterProcessMutex mutex) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.empty();
        }

        @Override
        public void release() throws Exception {
            mutex.release();
        }

        @Override
        public void releaseAsync() throws Exception {
            mutex.release();
        }
    }
}
