// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static io.mortise.lock.proof.mutants.WrapperMutant.backend;
import static io.mortise.lock.proof.mutants.WrapperMutant.client;

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
import io.mortise.lock.spi.MonotonicInstant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/** Deliberately defective backends and clients that resurrect a lost lease, or report its loss wrongly. Rules S06 and S07. */
final class LossMutants {
    private static final String REMOVED = "S07_aForcedReleaseIsAnnouncedOnceWithItsReason";

    private LossMutants() {}

    static List<WrapperMutant> all() {
        return List.of(
                backend(
                        "S06",
                        "a renewal recreates a removed grant",
                        "S06_aRemovedGrantStaysRemoved",
                        LossMutants::resurrects),
                client(
                        "S06",
                        "a lost lease becomes held again",
                        "S06_aRemovedGrantStaysRemoved",
                        LossMutants::reacquiring),
                backend(
                        "S07",
                        "a removal is detected only by the next renewal, though the store sends a notification",
                        REMOVED,
                        LossMutants::ignoresRemovals),
                client(
                        "S07",
                        "a loss is never reported",
                        REMOVED,
                        delegate -> new WrongLeasesClient(delegate, LossMutants::neverReportsLoss)),
                client(
                        "S07",
                        "a late listener is not notified",
                        REMOVED,
                        delegate -> new WrongLeasesClient(delegate, LossMutants::ignoresLateListeners)),
                backend("S07", "a removal is reported as an expiry", REMOVED, LossMutants::reportsWrongReason),
                client(
                        "S07",
                        "a release is reported as a loss",
                        "S07_nothingIsAnnouncedAfterARelease",
                        delegate -> new WrongLeasesClient(delegate, LossMutants::reportsReleaseAsLoss)),
                client(
                        "S07",
                        "the maximum hold is ignored",
                        "S07_theMaximumHoldEndsALeaseThatIsRenewed",
                        LossMutants::noMaximumHold),
                backend(
                        "S07",
                        "the loss of one lease ends all leases of its client",
                        "S07_theLossOfOneLeaseSparesTheOthers",
                        LossMutants::losesAllAtOnce));
    }

    /** Like a database client that uses INSERT OR UPDATE instead of UPDATE. */
    private static LockBackend resurrects(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void lost(LockRequest request, ContenderListener core, LossReason reason) {}

            @Override
            void renewalLost(GrantValidity validity, LossReason reason) {
                validity.extend(validity.validUntil().plus(validity.renewEvery()));
            }

            /** Reports the grant as valid in place of its own validity. */
            @Override
            public void renew(List<GrantValidity> due) {
                super.renew(due);
                MonotonicInstant now = connection.context().clock().now();
                due.forEach(validity ->
                        validity.extend(now.plus(validity.renewEvery().multipliedBy(2))));
            }
        };
    }

    private static LockBackend ignoresRemovals(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void lost(LockRequest request, ContenderListener core, LossReason reason) {}
        };
    }

    private static LockBackend reportsWrongReason(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            @Override
            void lost(LockRequest request, ContenderListener core, LossReason reason) {
                core.lost(new LossReason(LossReason.Kind.EXPIRED, reason.detail()));
            }
        };
    }

    private static LockBackend losesAllAtOnce(LockBackend delegate, MutantConnection connection) {
        return new ForwardingBackend(delegate, connection) {
            private final Set<GrantValidity> granted = ConcurrentHashMap.newKeySet();

            @Override
            AttemptResult granted(LockRequest request, AttemptResult.Granted result) {
                AttemptResult.Granted forwarded = (AttemptResult.Granted) super.granted(request, result);
                granted.add(forwarded.validity());
                return forwarded;
            }

            @Override
            void lost(LockRequest request, ContenderListener core, LossReason reason) {
                granted.forEach(validity -> validity.lost(reason));
            }
        };
    }

    private static Lease neverReportsLoss(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public CompletableFuture<LossReason> lost() {
                return new CompletableFuture<>();
            }
        };
    }

    private static Lease ignoresLateListeners(Lease delegate) {
        return new ForwardingLease(delegate) {
            @Override
            public CompletableFuture<LossReason> lost() {
                return isHeld() ? super.lost() : new CompletableFuture<>();
            }
        };
    }

    private static Lease reportsReleaseAsLoss(Lease delegate) {
        return new ForwardingLease(delegate) {
            private final CompletableFuture<LossReason> losses = new CompletableFuture<>();

            @Override
            public CompletableFuture<LossReason> lost() {
                return losses;
            }

            @Override
            public ReleaseOutcome release() {
                losses.complete(new LossReason(LossReason.Kind.REMOVED, "it was released"));
                return super.release();
            }
        };
    }

    private static LockClient noMaximumHold(LockClient delegate) {
        return new ForwardingClient(delegate) {
            @Override
            public DistributedLock named(String name, LockOptions options) {
                LockOptions kept = LockOptions.defaults().metadata(options.metadata());
                return super.named(
                        name, options.leaseDuration().map(kept::leaseDuration).orElse(kept));
            }
        };
    }

    /** Acquires a lost lease again without notifying its holder. */
    private static LockClient reacquiring(LockClient delegate) {
        return new ForwardingClient(delegate) {
            @Override
            public DistributedLock named(String name, LockOptions options) {
                DistributedLock lock = delegate.named(name, options);
                return new ForwardingLock(lock, lease -> new ForwardingLease(lease) {
                    private final CompletableFuture<Lease> again =
                            lease.lost().thenCompose(reason -> lock.acquireAsync());

                    @Override
                    public boolean isHeld() {
                        return lease.isHeld()
                                || (again.isDone()
                                        && !again.isCompletedExceptionally()
                                        && again.join().isHeld());
                    }
                });
            }
        };
    }
}
