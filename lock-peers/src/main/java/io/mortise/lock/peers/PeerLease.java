// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Presents a lock that another library has granted as a {@link Lease}, so that the conformance kit can test it.
 *
 * <p>Until a fault affects its client, a lock that was granted and not released counts as held. After a fault only the peer can
 * know; if it does not claim to, a test that asks is aborted. A release that the peer reports as successful although it cannot
 * know counts in the peer's favour.
 */
final class PeerLease implements Lease {
    private static final LossReason LOSS =
            new LossReason(LossReason.Kind.SESSION_ENDED, "reported by the peer's client");

    private final PeerLockClient client;
    private final OwnerThread owner;
    private final PeerGrant grant;
    private final String name;
    private final int faultsBefore;
    private volatile boolean removed;
    private final CompletableFuture<LossReason> lost = new CompletableFuture<>();
    private final AtomicReference<@Nullable CompletableFuture<ReleaseOutcome>> releasing = new AtomicReference<>();

    PeerLease(PeerLockClient client, OwnerThread owner, PeerGrant grant, String name, int faultsBefore) {
        this.client = client;
        this.owner = owner;
        this.grant = grant;
        this.name = name;
        this.faultsBefore = faultsBefore;
        client.held(this);
        if (claims(Claim.LOSS_NOTIFICATION)) {
            grant.onLoss(this::onLoss);
        }
    }

    private boolean claims(Claim claim) {
        return client.peer().claims().contains(claim);
    }

    private void onLoss() {
        if (releasing.get() == null) {
            lost.complete(LOSS);
        }
    }

    void clientClosed() {
        lost.complete(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
        owner.close();
    }

    /** Notes that somebody has removed the grant from the store. */
    void removed() {
        removed = true;
    }

    /** Returns whether the grant was removed, or a fault has affected the client since this lock was requested. */
    private boolean disturbed() {
        return removed || client.links().faults() != faultsBefore;
    }

    @Override
    public String lockName() {
        return name;
    }

    @Override
    public String ownerId() {
        throw client.test().abort("an owner id");
    }

    @Override
    public long fencingToken() {
        return grant.token().orElseThrow(() -> new UnsupportedOperationException("no fencing token"));
    }

    @Override
    public boolean isHeld() {
        client.test().requireNoAbort();
        if (releasing.get() != null || lost.isDone()) {
            return false;
        }
        if (claims(Claim.HELD_CHECK)) {
            return isHeldInStore();
        }
        if (disturbed() && !claims(Claim.LOSS_NOTIFICATION)) {
            throw client.test().abort(Claim.HELD_CHECK);
        }
        return true;
    }

    /** A check that fails tells the application nothing, so it must stop its work. */
    private boolean isHeldInStore() {
        try {
            return owner.call(grant::isHeld);
        } catch (Exception e) {
            client.note("isHeld: " + e);
            return false;
        }
    }

    @Override
    public void ensureHeld() {
        if (!isHeld()) {
            throw new LeaseLostException(name, lost.getNow(LOSS));
        }
    }

    /** No peer knows the remaining time without a request; the whole lease stands for "not known to be less". */
    @Override
    public Duration remaining() {
        return isHeld() ? client.peer().lease() : Duration.ZERO;
    }

    /**
     * If the peer does not notify, a test that reads the future is aborted. One that only registers a listener runs on, and the
     * listener never runs, unless the test is about such listeners.
     */
    @Override
    public CompletableFuture<LossReason> lost() {
        if (claims(Claim.LOSS_NOTIFICATION)) {
            return lost.copy();
        }
        if (client.test().isAboutLosses()) {
            throw client.test().abort(Claim.LOSS_NOTIFICATION);
        }
        return new UnclaimedFuture(client.test());
    }

    /** No peer offers this, so the callback never runs. */
    @Override
    public void onExpiring(Duration before, Runnable callback) {}

    @Override
    public ReleaseOutcome release() {
        return releaseAsync().join();
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        CompletableFuture<ReleaseOutcome> mine = new CompletableFuture<>();
        CompletableFuture<ReleaseOutcome> first = releasing.compareAndExchange(null, mine);
        if (first != null) {
            return first.copy();
        }
        mine.complete(releaseOnce());
        return mine.copy();
    }

    private ReleaseOutcome releaseOnce() {
        try {
            boolean released = client.peer().ownedByThread() ? owner.call(grant::release) : grant.release();
            if (!released || lost.isDone()) {
                return ReleaseOutcome.LOST;
            }
            return claims(Claim.RELEASE_RESULT) || !disturbed() ? ReleaseOutcome.RELEASED : unreported();
        } catch (Exception e) {
            client.note("release: " + e);
            return lost.isDone() ? ReleaseOutcome.LOST : ReleaseOutcome.UNKNOWN;
        } finally {
            client.ended(this);
            owner.close();
        }
    }

    private ReleaseOutcome unreported() {
        return removed || client.links().latest() == FaultTrackingLinks.Fault.LONG
                ? ReleaseOutcome.LOST
                : ReleaseOutcome.UNKNOWN;
    }

    @Override
    public ReleaseOutcome releaseAfter(Duration delay) {
        throw new UnsupportedOperationException("not offered by the peers' adapters");
    }

    @Override
    public CompletableFuture<ReleaseOutcome> releaseAfterAsync(Duration delay) {
        throw new UnsupportedOperationException("not offered by the peers' adapters");
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return Optional.empty();
    }

    @Override
    public void close() {
        release();
    }

    /** A future of a notification that the peer never claimed; a test that reads it is aborted. */
    private static final class UnclaimedFuture extends CompletableFuture<LossReason> {
        private final TestClaims test;

        UnclaimedFuture(TestClaims test) {
            this.test = test;
        }

        @Override
        public boolean isDone() {
            throw test.abort(Claim.LOSS_NOTIFICATION);
        }

        @Override
        public LossReason get() {
            throw test.abort(Claim.LOSS_NOTIFICATION);
        }

        @Override
        public LossReason get(long timeout, TimeUnit unit) {
            throw test.abort(Claim.LOSS_NOTIFICATION);
        }

        @Override
        public LossReason join() {
            throw test.abort(Claim.LOSS_NOTIFICATION);
        }
    }
}
