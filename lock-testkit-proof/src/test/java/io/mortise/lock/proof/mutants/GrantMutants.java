// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Deliberately defective backends and clients that break exclusion, {@code isHeld}, fencing tokens or ownership.
 *
 * <p>Rules S01 to S04.
 */
final class GrantMutants {
    private GrantMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S01",
                        "every third request for a held lock is granted",
                        "S01_clientsExcludeEachOther",
                        GrantMutants::grantsTwice),
                client(
                        "S01",
                        "all names share one lock",
                        "S01_locksOfOtherNamesAreIndependent",
                        delegate -> new NameMutants.Renaming(delegate, name -> "the lock")),
                backend(
                        "S02",
                        "the client assumes twice the store's lease duration",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        GrantMutants::assumesTwiceTheLease),
                backend(
                        "S02",
                        "isHeld stays true until a renewal fails",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        GrantMutants::hasNoDeadline),
                backend(
                        "S02",
                        "leases are not renewed",
                        "S02_renewalKeepsALeaseBeyondItsDuration",
                        (delegate, connection) -> new ForwardingBackend(delegate, connection) {
                            @Override
                            public void renew(List<GrantValidity> due) {}
                        }),
                client(
                        "S02",
                        "isHeld queries the store each time",
                        "S02_isHeldIsLocalAndRemainingIsWithinTheLease",
                        delegate -> new WrongLeasesClient(delegate, GrantMutants::queriesStoreEachTime)),
                client(
                        "S02",
                        "isHeld stays true after a release",
                        "S02_isHeldIsLocalAndRemainingIsWithinTheLease",
                        delegate -> new WrongLeasesClient(delegate, GrantMutants::alwaysHeld)),
                client(
                        "S02",
                        "remaining returns the full lease duration, not the remaining time",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        delegate -> new WrongLeasesClient(delegate, GrantMutants::neverCountsDown)),
                backend(
                        "S03",
                        "two consecutive grants have the same token",
                        "S03_tokensIncreaseAcrossReleasesAndClients",
                        (delegate, connection) -> new WrongTokens(delegate, connection) {
                            @Override
                            long token(LockRequest request, long storeToken) {
                                return storeToken / 2;
                            }
                        }),
                backend(
                        "S03",
                        "each client counts its own tokens",
                        "S03_tokensIncreaseAcrossReleasesAndClients",
                        (delegate, connection) -> new WrongTokens(delegate, connection) {
                            private final AtomicLong own = new AtomicLong();

                            @Override
                            long token(LockRequest request, long storeToken) {
                                return own.incrementAndGet();
                            }
                        }),
                backend(
                        "S03",
                        "the token counter is deleted with the lock's last entry",
                        "S03_tokensIncreaseAcrossReleasesAndClients",
                        GrantMutants::forgetsTheCounterAtRelease),
                backend(
                        "S03",
                        "the token counter expires with the lease",
                        "S02_aSilentHoldersLeaseEndsBeforeTheNextGrant",
                        GrantMutants::forgetsTheCounterAtExpiry),
                backend(
                        "S04",
                        "a client that holds a lock is granted it again",
                        "S04_theSameThreadAcquiringTwiceWaits",
                        GrantMutants::reentrant),
                client(
                        "S04",
                        "only the acquiring thread may release",
                        "S04_anyThreadMayRelease",
                        delegate -> new WrongLeasesClient(delegate, GrantMutants::ownedByThread)),
                client(
                        "S04",
                        "all leases of a client have the same owner id",
                        "S04_theSameThreadAcquiringTwiceWaits",
                        delegate -> new WrongLeasesClient(delegate, GrantMutants::sharedOwnerId)));
    }

    private static AttemptResult forged(LockRequest request, MutantConnection connection) {
        LockClock clock = connection.context().clock();
        MonotonicInstant until = LockClock.deadline(clock.now(), request.leaseDuration());
        return new AttemptResult.Granted(
                System.nanoTime(), new GrantValidity(clock, request.leaseDuration(), until) {});
    }

    private static LockBackend grantsTwice(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final AtomicLong requests = new AtomicLong();

            @Override
            AttemptResult result(LockRequest request, AttemptResult result) {
                return result instanceof AttemptResult.Waiting && requests.incrementAndGet() % 3 == 0
                        ? forged(request, connection)
                        : super.result(request, result);
            }
        };
    }

    private static LockBackend assumesTwiceTheLease(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            MonotonicInstant validUntil(LockRequest request, MonotonicInstant until) {
                return until.plus(request.leaseDuration());
            }
        };
    }

    private static LockBackend hasNoDeadline(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            MonotonicInstant validUntil(LockRequest request, MonotonicInstant until) {
                return until.plus(Duration.ofDays(1));
            }
        };
    }

    /** Returns other fencing tokens than the store's. */
    private abstract static class WrongTokens extends ForwardingBackend {
        WrongTokens(LockBackend delegate, MutantConnection connection) {
            super(delegate, connection);
        }

        abstract long token(LockRequest request, long storeToken);

        @Override
        final AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
            return super.granted(
                    request, new AttemptResult.Granted(token(request, granted.token()), granted.validity()));
        }
    }

    private static LockBackend forgetsTheCounterAtRelease(LockBackend delegate, MutantConnection connection) {
        return new WrongTokens(delegate, connection) {
            @Override
            long token(LockRequest request, long storeToken) {
                return connection.shared().merge(request.name().value(), 1L, Long::sum);
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                connection.shared().remove(request.name().value());
                return super.end(request, contender);
            }
        };
    }

    private static LockBackend forgetsTheCounterAtExpiry(LockBackend delegate, MutantConnection connection) {
        return new WrongTokens(delegate, connection) {
            @Override
            long token(LockRequest request, long storeToken) {
                Map<String, Long> shared = connection.shared();
                String expires = "expires " + request.name();
                long now = connection.context().clock().now().nanos();
                long renewed = now + request.leaseDuration().dividedBy(2).toNanos();
                Long until = shared.put(expires, renewed);
                if (until != null && until - now < 0) {
                    shared.remove(request.name().value());
                }
                return shared.merge(request.name().value(), 1L, Long::sum);
            }
        };
    }

    private static LockBackend reentrant(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Set<String> mine = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult result(LockRequest request, AttemptResult result) {
                boolean again = !mine.add(request.name().value()) && result instanceof AttemptResult.Waiting;
                return again ? forged(request, connection) : super.result(request, result);
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                mine.remove(request.name().value());
                return super.end(request, contender);
            }
        };
    }

    private static Lease queriesStoreEachTime(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public boolean isHeld() {
                LockSupport.parkNanos(200_000); // the round trip time of a fast store nearby
                return super.isHeld();
            }
        };
    }

    private static Lease alwaysHeld(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public boolean isHeld() {
                return true;
            }
        };
    }

    private static Lease neverCountsDown(Lease delegate) {
        // As if the lease had just been granted.
        Duration whole = Duration.ofSeconds(delegate.remaining().toSeconds() + 1);
        return new ForwardingLease(delegate) {
            @Override
            public Duration remaining() {
                return isHeld() ? whole : Duration.ZERO;
            }
        };
    }

    private static Lease ownedByThread(Lease delegate) {
        return new ForwardingLease(delegate) {
            private final Thread owner = Thread.currentThread();

            @Override
            public ReleaseOutcome release() {
                return owner.equals(Thread.currentThread()) ? super.release() : ReleaseOutcome.LOST;
            }
        };
    }

    private static Lease sharedOwnerId(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public String ownerId() {
                return "0123456789abcdef0123456789abcdef";
            }
        };
    }
}
