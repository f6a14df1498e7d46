// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.Mutant.backend;
import static io.mortise.lock.proof.mutants.Mutant.client;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.AttemptResult;
import io.mortise.lock.spi.ContenderListener;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.MonotonicTime;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** What a holder is told when its lease was lost, and that it stays lost: S06 and S07. */
final class LossMutants {
    private static final String REMOVED = "S07_aForcedReleaseIsAnnouncedOnceWithItsReason";

    private LossMutants() {}

    static List<Mutant> all() {
        return List.of(
                backend(
                        "S06",
                        "a renewal makes a grant anew that was removed",
                        "S06_aRemovedGrantStaysRemoved",
                        LossMutants::resurrects),
                client("S06", "a lost lease comes back by itself", "S06_aRemovedGrantStaysRemoved", Reacquiring::new),
                backend(
                        "S07",
                        "a removal is noticed only by the next renewal, though the store tells",
                        REMOVED,
                        LossMutants::deafToRemovals),
                client(
                        "S07",
                        "a loss is never told",
                        REMOVED,
                        honest -> new WrongLeasesClient(honest, NeverTells::new)),
                client(
                        "S07",
                        "a late listener is not told",
                        REMOVED,
                        honest -> new WrongLeasesClient(honest, TellsOnlyTheFirst::new)),
                backend("S07", "a removal is told as an expiry", REMOVED, LossMutants::mixesReasonsUp),
                client(
                        "S07",
                        "a release is told as a loss",
                        "S07_nothingIsAnnouncedAfterARelease",
                        honest -> new WrongLeasesClient(honest, TellsAReleaseToo::new)),
                client(
                        "S07",
                        "the maximum hold is ignored",
                        "S07_theMaximumHoldEndsALeaseThatIsRenewed",
                        NoMaximumHold::new),
                backend(
                        "S07",
                        "one lost lease takes all of its client along",
                        "S07_theLossOfOneLeaseSparesTheOthers",
                        LossMutants::losesAllAtOnce));
    }

    /** INSERT OR UPDATE where an UPDATE was meant. */
    private static LockBackend resurrects(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void lost(LossReason reason) {}
                };
            }

            @Override
            void renewalLost(GrantValidity validity, LossReason reason) {
                validity.extend(validity.validUntil().plus(validity.renewEvery()));
            }

            /** Reports the grant as valid in place of its own validity. */
            @Override
            public void renew(List<GrantValidity> due) {
                super.renew(due);
                MonotonicTime now = connection.context().clock().now();
                due.forEach(validity ->
                        validity.extend(now.plus(validity.renewEvery().multipliedBy(2))));
            }
        };
    }

    private static LockBackend deafToRemovals(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void lost(LossReason reason) {}
                };
            }
        };
    }

    private static LockBackend mixesReasonsUp(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void lost(LossReason reason) {
                        core.lost(new LossReason(LossReason.Kind.EXPIRED, reason.detail()));
                    }
                };
            }
        };
    }

    private static LockBackend losesAllAtOnce(LockBackend honest, MutantConnection connection) {
        return new ForwardingBackend(honest, connection) {
            private final Set<GrantValidity> granted = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted made) {
                AttemptResult.Granted seen = (AttemptResult.Granted) super.granted(request, made);
                granted.add(seen.validity());
                return seen;
            }

            @Override
            ContenderListener heard(LockRequest request, ContenderListener core) {
                return new Forwarding(core) {
                    @Override
                    public void lost(LossReason reason) {
                        granted.forEach(validity -> validity.lost(reason));
                    }
                };
            }
        };
    }

    /** Passes hints and losses on. */
    static class Forwarding implements ContenderListener {
        final ContenderListener core;

        Forwarding(ContenderListener core) {
            this.core = core;
        }

        @Override
        public void wake() {
            core.wake();
        }

        @Override
        public void lost(LossReason reason) {
            core.lost(reason);
        }
    }

    private static final class NeverTells extends ForwardingLease {
        NeverTells(Lease honest) {
            super(honest);
        }

        @Override
        public CompletableFuture<LossReason> lost() {
            return new CompletableFuture<>();
        }
    }

    private static final class TellsOnlyTheFirst extends ForwardingLease {
        TellsOnlyTheFirst(Lease honest) {
            super(honest);
        }

        @Override
        public CompletableFuture<LossReason> lost() {
            return isHeld() ? super.lost() : new CompletableFuture<>();
        }
    }

    private static final class TellsAReleaseToo extends ForwardingLease {
        private final CompletableFuture<LossReason> told = new CompletableFuture<>();

        TellsAReleaseToo(Lease honest) {
            super(honest);
        }

        @Override
        public CompletableFuture<LossReason> lost() {
            return told;
        }

        @Override
        public ReleaseOutcome release() {
            told.complete(new LossReason(LossReason.Kind.REMOVED, "it was released"));
            return super.release();
        }
    }

    private static final class NoMaximumHold extends ForwardingClient {
        NoMaximumHold(LockClient honest) {
            super(honest);
        }

        @Override
        public DistributedLock named(String name, LockOptions options) {
            LockOptions kept = LockOptions.defaults().metadata(options.metadata());
            return super.named(
                    name, options.leaseDuration().map(kept::leaseDuration).orElse(kept));
        }
    }

    /** A lease that is lost is acquired again behind its holder's back. */
    private static final class Reacquiring extends ForwardingClient {
        Reacquiring(LockClient honest) {
            super(honest);
        }

        @Override
        public DistributedLock named(String name, LockOptions options) {
            DistributedLock lock = honest.named(name, options);
            return new ForwardingLock(lock, lease -> new ForwardingLease(lease) {
                private final CompletableFuture<Lease> again = lease.lost().thenCompose(reason -> lock.acquireAsync());

                @Override
                public boolean isHeld() {
                    return lease.isHeld()
                            || (again.isDone()
                                    && !again.isCompletedExceptionally()
                                    && again.join().isHeld());
                }
            });
        }
    }
}
