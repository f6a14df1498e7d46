// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import java.util.OptionalLong;

/**
 * Benchmark competitor that locks through Mortise's public API, on any backend.
 *
 * @param urlPrefix part of the URL before the endpoint
 * @param urlSuffix part of the URL after the endpoint
 */
record MortiseCompetitor(String urlPrefix, String urlSuffix) implements Competitor {
    @Override
    public String name() {
        return TestBed.MORTISE;
    }

    @Override
    public String description() {
        return "Mortise, with the URL " + urlPrefix + "..." + urlSuffix;
    }

    @Override
    public CompetitorSession open(String endpoint) {
        LockClient client = Locks.connect(urlPrefix + endpoint + urlSuffix);
        return new CompetitorSession() {
            @Override
            public HeldGrant acquire(String lock) throws InterruptedException {
                return new Granted(client.named(lock).acquire());
            }

            @Override
            public void close() {
                client.close();
            }
        };
    }

    private record Granted(Lease lease) implements HeldGrant {
        @Override
        public OptionalLong token() {
            return OptionalLong.of(lease.fencingToken());
        }

        @Override
        public void release() {
            ReleaseOutcome outcome = lease.release();
            if (outcome != ReleaseOutcome.RELEASED) {
                throw new IllegalStateException("release of " + lease.lockName() + " had the outcome " + outcome);
            }
        }

        @Override
        public void releaseAsync() {
            lease.releaseAsync();
        }
    }
}
