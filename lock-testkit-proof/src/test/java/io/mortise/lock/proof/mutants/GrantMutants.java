// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.Lease;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.Contender;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockClock;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Who gets the lock, what they believe of it, and its token: S01 to S04. */
final class GrantMutants {
    private GrantMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S01",
                        "a busy lock is granted to every third who asks",
                        "S01_clientsExcludeEachOther",
                        GrantMutants::grantsTwice),
                client(
                        "S01",
                        "all names are one lock",
                        "S01_locksOfOtherNamesAreIndependent",
                        honest -> new NameMutants.Renaming(honest, name -> "the lock")),
                backend(
                        "S02",
                        "the store's lease is half as long as the client believes",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        GrantMutants::believesTwiceAsLong),
                backend(
                        "S02",
                        "a holder believes until a renewal says otherwise",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        GrantMutants::hasNoDeadline),
                backend(
                        "S02",
                        "leases are not renewed",
                        "S02_renewalKeepsALeaseBeyondItsDuration",
                        (honest, connection) -> new ForwardingBackend(honest, connection) {
                            @Override
                            public void renew(List<GrantValidity> due) {}
                        }),
                client(
                        "S02",
                        "isHeld asks the store each time",
                        "S02_isHeldIsLocalAndRemainingIsWithinTheLease",
                        honest -> new WrongLeasesClient(honest, AsksEachTime::new)),
                client(
                        "S02",
                        "isHeld stays true after a release",
                        "S02_isHeldIsLocalAndRemainingIsWithinTheLease",
                        honest -> new WrongLeasesClient(honest, HeldForEver::new)),
                client(
                        "S02",
                        "remaining tells the lease duration, not what is left of it",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        honest -> new WrongLeasesClient(honest, NeverCountsDown::new)),
                backend(
                        "S03",
                        "two grants in a row have one token",
                        "S03_tokensRiseOverReleasesAndClients",
                        (honest, connection) -> new Tokens(honest, connection) {
                            @Override
                            long token(LockRequest request, long honestToken) {
                                return honestToken / 2;
                            }
                        }),
                backend(
                        "S03",
                        "each client counts its own tokens",
                        "S03_tokensRiseOverReleasesAndClients",
                        (honest, connection) -> new Tokens(honest, connection) {
                            private final AtomicLong own = new AtomicLong();

                            @Override
                            long token(LockRequest request, long honestToken) {
                                return own.incrementAndGet();
                            }
                        }),
                backend(
                        "S03",
                        "the counter goes with the lock's last entry",
                        "S03_tokensRiseOverReleasesAndClients",
                        GrantMutants::forgetsTheCounterAtRelease),
                backend(
                        "S03",
                        "the counter expires with the lease",
                        "S02_aSilentHolderStopsBelievingBeforeTheNextIsGranted",
                        GrantMutants::forgetsTheCounterAtExpiry),
                backend(
                        "S04",
                        "the owner is the client, which gets its own lock again",
                        "S04_theSameThreadAcquiringTwiceWaits",
                        GrantMutants::reentrant),
                client(
                        "S04",
                        "only the thread that acquired may release",
                        "S04_anyThreadMayRelease",
                        honest -> new WrongLeasesClient(honest, OwnedByThread::new)),
                client(
                        "S04",
                        "all leases of a client have one owner id",
                        "S04_theSameThreadAcquiringTwiceWaits",
                        honest -> new WrongLeasesClient(honest, OneOwner::new)));
    }

    private static AttemptResult forged(LockRequest request, MutantConnection connection) {
        LockClock clock = connection.context().clock();
        MonotonicTime until = LockClock.deadline(clock.now(), request.leaseDuration());
        return new AttemptResult.Granted(
                System.nanoTime(), new GrantValidity(clock, request.leaseDuration(), until) {});
    }

    private static LockBackend grantsTwice(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final AtomicLong asked = new AtomicLong();

            @Override
            AttemptResult answered(LockRequest request, AttemptResult answer) {
                return answer instanceof AttemptResult.Waiting && asked.incrementAndGet() % 3 == 0
                        ? forged(request, connection)
                        : super.answered(request, answer);
            }
        };
    }

    private static LockBackend believesTwiceAsLong(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            MonotonicTime validUntil(LockRequest request, MonotonicTime until) {
                return until.plus(request.leaseDuration());
            }
        };
    }

    private static LockBackend hasNoDeadline(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            MonotonicTime validUntil(LockRequest request, MonotonicTime until) {
                return until.plus(Duration.ofDays(1));
            }
        };
    }

    /** Another token than the store's. */
    private abstract static class Tokens extends ForwardingBackend {
        Tokens(LockBackend honest, MutantConnection connection) {
            super(honest, connection);
        }

        abstract long token(LockRequest request, long honestToken);

        @Override
        final AttemptResult granted(LockRequest request, AttemptResult.Granted granted) {
            return super.granted(
                    request, new AttemptResult.Granted(token(request, granted.token()), granted.validity()));
        }
    }

    private static LockBackend forgetsTheCounterAtRelease(LockBackend honest, MutantConnection connection) {
        return new Tokens(honest, connection) {
            @Override
            long token(LockRequest request, long honestToken) {
                return connection.shared().merge(request.name().value(), 1L, Long::sum);
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                connection.shared().remove(request.name().value());
                return super.end(request, contender);
            }
        };
    }

    private static LockBackend forgetsTheCounterAtExpiry(LockBackend honest, MutantConnection connection) {
        return new Tokens(honest, connection) {
            @Override
            long token(LockRequest request, long honestToken) {
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

    private static LockBackend reentrant(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Set<String> mine = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult answered(LockRequest request, AttemptResult answer) {
                boolean again = !mine.add(request.name().value()) && answer instanceof AttemptResult.Waiting;
                return again ? forged(request, connection) : super.answered(request, answer);
            }

            @Override
            CompletionStage<Boolean> end(LockRequest request, Contender contender) {
                mine.remove(request.name().value());
                return super.end(request, contender);
            }
        };
    }

    private static final class AsksEachTime extends ForwardingLease {
        AsksEachTime(Lease honest) {
            super(honest);
        }

        @Override
        public boolean isHeld() {
            LockSupport.parkNanos(200_000); // a fast store, near by
            return super.isHeld();
        }
    }

    private static final class HeldForEver extends ForwardingLease {
        HeldForEver(Lease honest) {
            super(honest);
        }

        @Override
        public boolean isHeld() {
            return true;
        }
    }

    private static final class NeverCountsDown extends ForwardingLease {
        private final Duration whole;

        NeverCountsDown(Lease honest) {
            super(honest);
            this.whole = Duration.ofSeconds(honest.remaining().toSeconds() + 1); // as it was granted, however long ago
        }

        @Override
        public Duration remaining() {
            return isHeld() ? whole : Duration.ZERO;
        }
    }

    private static final class OwnedByThread extends ForwardingLease {
        private final Thread owner = Thread.currentThread();

        OwnedByThread(Lease honest) {
            super(honest);
        }

        @Override
        public ReleaseOutcome release() {
            return owner.equals(Thread.currentThread()) ? super.release() : ReleaseOutcome.LOST;
        }
    }

    private static final class OneOwner extends ForwardingLease {
        OneOwner(Lease honest) {
            super(honest);
        }

        @Override
        public String ownerId() {
            return "0123456789abcdef0123456789abcdef";
        }
    }
}
