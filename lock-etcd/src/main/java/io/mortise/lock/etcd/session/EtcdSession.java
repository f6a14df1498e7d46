// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.LossReason;
import io.mortise.lock.etcd.connection.EtcdErrors;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import io.mortise.lock.etcd.queue.IsolatedCallback;
import io.mortise.lock.etcd.queue.SessionLockQueue;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.session.OpenSessionWaiters;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's session with etcd, which is one etcd lease with all of the client's keys attached. An ended session is never
 * revived. Besides the contenders' keys there is one key of the session itself. The version of that key is the session's
 * epoch. An acquire is executed only in the epoch in which it was sent, so a withdrawal that starts a new epoch defeats
 * acquires that are still in flight (S8).
 */
public final class EtcdSession implements CurrentSession.Session {
    private static final Logger log = LoggerFactory.getLogger(EtcdSession.class);

    /** The reason for the end of the session when the store gives no other. */
    static final String KEY_DELETED = "the session's key was deleted, or its lease was revoked";

    private final EtcdRequestSender requests;
    private final EtcdKeyLayout keys;
    private final BackendContext context;
    private final OpenSessionWaiters<EtcdSessionValidity> ready = new OpenSessionWaiters<>();
    private final Map<String, SessionLockQueue> queues = new ConcurrentHashMap<>();
    private final AtomicLong epoch = new AtomicLong();
    private final AtomicInteger keySeries = new AtomicInteger();
    private final CompletableFuture<Boolean> removal = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Duration requestedLease;
    private final SessionRenewal renewal;
    private final SessionKeyWatch watch;
    private volatile long leaseId;
    private volatile boolean ended;

    /** @param requestedLease the lease duration to request */
    EtcdSession(EtcdRequestSender requests, EtcdKeyLayout keys, BackendContext context, Duration requestedLease) {
        this.requestedLease = requestedLease;
        this.requests = requests;
        this.keys = keys;
        this.context = context;
        this.renewal = new SessionRenewal(this, requests, context.clock());
        this.watch = new SessionKeyWatch(this, requests, context.clock());
    }

    /** Starts to open the session; {@link #ready} reports the outcome. Called once. */
    @Override
    public void open() {
        MonotonicInstant sent = context.clock().now();
        requests.grant("opening a session", requestedLease)
                .thenCompose(granted -> putSessionKey(granted, sent))
                .whenComplete((validity, failure) -> {
                    if (failure == null) {
                        opened(validity);
                    } else {
                        end(new LossReason(LossReason.Kind.SESSION_ENDED, "the session was not opened"), failure);
                    }
                });
    }

    /** Puts the session's key on the granted lease. The session starts only if that succeeds. */
    private CompletionStage<EtcdSessionValidity> putSessionKey(LeaseGrantResponse granted, MonotonicInstant sent) {
        leaseId = granted.getID();
        if (ended) {
            revoke();
        }
        return requests.txn(
                        "opening a session", new Cmp[] {EtcdTransactionParts.isAbsent(sessionKey())}, new Op[] {putKey()
                        })
                .thenApply(put -> {
                    if (!put.isSucceeded()) {
                        throw new BackendUnavailableException(
                                "the key of the session with lease " + leaseIdHex() + " exists already");
                    }
                    epoch.set(1);
                    return new EtcdSessionValidity(this, context.clock(), Duration.ofSeconds(granted.getTTL()), sent);
                });
    }

    private void opened(EtcdSessionValidity validity) {
        log.info(
                "event=session-ready lease={} ttl_ms={} endpoints={}",
                leaseIdHex(),
                validity.leaseDuration().toMillis(),
                requests.endpoints());
        if (ready.complete(validity)) {
            context.register(validity);
            watch.open();
        }
    }

    public ByteSequence sessionKey() {
        return keys.sessionKey(leaseId);
    }

    /**
     * Returns the operation that puts the session's key within a transaction; it starts the session or a new epoch of it.
     */
    public Op putKey() {
        return EtcdTransactionParts.put(sessionKey(), EtcdKeyLayout.bytes("client=" + context.clientId()), leaseId);
    }

    public long leaseId() {
        return leaseId;
    }

    /** Returns the lease id in the hexadecimal form that etcd's own tools print. */
    public String leaseIdHex() {
        return Long.toHexString(leaseId);
    }

    /** Returns the epoch for acquires that are sent now. */
    public long epoch() {
        return epoch.get();
    }

    /**
     * Records an epoch that a linearizable read has shown. Ends the session if the store has an older state than before: acquires
     * are executed in the known epoch only, and leases that the store has forgotten would stay valid.
     *
     * @param before the epoch that was known when the read was sent
     */
    public void observeEpoch(long reported, long before) {
        epoch.accumulateAndGet(reported, Math::max);
        if (reported < before) {
            end("the store has an older state of the session than before, as after a restore from a backup");
        }
    }

    /** Returns the series for keys that are put from now on. */
    public int keySeries() {
        return keySeries.get();
    }

    /**
     * Starts a new key series, since a delayed deletion may still be executed: it must not hit a key that is put from now
     * on.
     */
    public void startKeySeries() {
        keySeries.incrementAndGet();
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    /** Completes when the session is open; fails with the exception for the waiters. */
    public CompletionStage<EtcdSessionValidity> ready() {
        return ready.join();
    }

    /** Returns the validity; empty until the session is open. */
    public Optional<EtcdSessionValidity> validity() {
        return ready.openSession();
    }

    /**
     * Adds a contender to the session's queue for this lock, and returns the queue with the contender's slot. The contender is
     * notified of the session's end, also if that was before.
     */
    public Slot joinQueue(LockName name, SessionLockQueue.Contender contender) {
        int[] slot = new int[1];
        SessionLockQueue lockQueue = queues.compute(keys.contenderPrefix(name), (prefix, known) -> {
            SessionLockQueue queue =
                    known != null ? known : new SessionLockQueue(requests, context.clock(), prefix, this::discard);
            slot[0] = queue.addContender(contender);
            return queue;
        });
        if (ended) {
            lockQueue.end();
        }
        return new Slot(lockQueue, slot[0]);
    }

    /** A contender's slot in a lock's queue. */
    public record Slot(SessionLockQueue queue, int slot) {}

    private void discard(SessionLockQueue idle) {
        queues.computeIfPresent(
                idle.contenderPrefix(), (prefix, known) -> known == idle && idle.isIdle() ? null : known);
    }

    /** Starts to renew the session; the outcome is reported to the validity. */
    void renew(EtcdSessionValidity validity) {
        renewal.renew(validity);
    }

    /**
     * Returns whether the session still exists, checked after all watch events received so far. Ends the session if it does
     * not.
     */
    public CompletionStage<Boolean> checkAlive() {
        return renewal.checkAlive();
    }

    /** Ends the session, because the store or a reply showed that it no longer exists. */
    public void end(String why) {
        end(new LossReason(LossReason.Kind.SESSION_ENDED, why));
    }

    @Override
    public void end(LossReason reason) {
        end(reason, unavailable(reason.detail()));
    }

    /**
     * Ends the session for any cause: all leases are lost, waiters request a new session, and the etcd lease is revoked.
     */
    private void end(LossReason reason, Throwable failure) {
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
        }
        validity()
                .ifPresentOrElse(
                        validity -> {
                            log.info("event=session-ended lease={} reason=\"{}\"", leaseIdHex(), reason);
                            validity.lost(reason);
                        },
                        () -> log.debug(
                                "event=session-not-opened lease={} cause=\"{}\"", leaseIdHex(), failure.toString()));
        ready.fail(EtcdErrors.of(failure, "opening a session", requests.endpoints()));
        IsolatedCallback.run(watch::close);
        queues.values().forEach(queue -> IsolatedCallback.run(queue::end));
        if (leaseId == 0) {
            closed.complete(null);
            removal.complete(true); // nothing was attached to the lease, which may still be granted
        } else {
            revoke();
        }
    }

    /**
     * Revokes the lease: the first request is sent at once, since a client that closes repeats no requests; then repeats it
     * until the store replies.
     */
    private void revoke() {
        requests.revoke(leaseId).whenComplete((done, failure) -> {
            if (failure == null) {
                removal.complete(true);
                closed.complete(null);
                return;
            }
            closed.completeExceptionally(failure);
            Duration leaseDuration =
                    validity().map(EtcdSessionValidity::leaseDuration).orElse(context.requestTimeout());
            context.cleanUp(
                    "lease " + leaseIdHex() + " of a session that has ended",
                    () -> requests.revoke(leaseId).thenApply(removal::complete),
                    context.clock().now().plus(leaseDuration));
        });
    }

    /** Completes when the store knows that the session has ended, or could not be notified. */
    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }

    /** Completes when the store has deleted the lease with all its keys. */
    public CompletableFuture<Boolean> removal() {
        return removal;
    }

    public LockException unavailable(String why) {
        return new BackendUnavailableException("no session with " + requests.endpoints() + ": " + why);
    }
}
