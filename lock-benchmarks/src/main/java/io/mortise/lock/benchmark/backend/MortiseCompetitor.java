// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.connect.Locks;
import java.util.OptionalLong;

/** Mortise as an application uses it. The same on every backend. */
record MortiseCompetitor(String before, String after) implements Competitor {
    @Override
    public String name() {
        return TestBed.MORTISE;
    }

    @Override
    public String description() {
        return "Mortise, by the URL " + before + "..." + after;
    }

    @Override
    public CompetitorSession open(String endpoint) {
        LockClient client = Locks.connect(before + endpoint + after);
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
                throw new IllegalStateException("release of " + lease.lockName() + " ended as " + outcome);
            }
        }

        @Override
        public void releaseAsync() {
            lease.releaseAsync();
        }
    }
}
