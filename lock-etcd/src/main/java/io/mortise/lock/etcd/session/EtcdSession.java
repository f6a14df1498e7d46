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
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.LockQueue;
import io.mortise.lock.etcd.queue.TransactionParts;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.session.CurrentSession;
import io.mortise.lock.spi.session.SessionWaitQueue;
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
 * One etcd lease, from its grant to its end; it is never revived. All contenders' keys of a client are attached to it, and one
 * key of the session itself. The version of that key is the session's epoch: an acquire is executed only in the
 * epoch in which it was sent, so that a withdrawal which begins a new one defeats what is still on its way (S8).
 */
public final class EtcdSession implements CurrentSession.Session {
    private static final Logger log = LoggerFactory.getLogger(EtcdSession.class);

    /** Why the session ended, if the store says no more. */
    static final String KEY_GONE = "its key was deleted, or its lease revoked";

    private final EtcdRequests calls;
    private final EtcdKeyLayout keys;
    private final BackendContext context;
    private final SessionWaitQueue<EtcdSessionValidity> ready = new SessionWaitQueue<>();
    private final Map<String, LockQueue> queues = new ConcurrentHashMap<>();
    private final AtomicLong epoch = new AtomicLong();
    private final AtomicInteger keySeries = new AtomicInteger();
    private final CompletableFuture<Boolean> removal = new CompletableFuture<>();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private final Duration lease;
    private final SessionRenewal renewal;
    private final SessionWatch watch;
    private volatile long leaseId;
    private volatile boolean over;

    /** @param lease to ask for */
    EtcdSession(EtcdRequests calls, EtcdKeyLayout keys, BackendContext context, Duration lease) {
        this.lease = lease;
        this.calls = calls;
        this.keys = keys;
        this.context = context;
        this.renewal = new SessionRenewal(this, calls, context.clock());
        this.watch = new SessionWatch(this, calls, context.clock());
    }

    /** Begins to open it; {@link #ready} tells how it went. Once. */
    @Override
    public void begin() {
        MonotonicTime sent = context.clock().now();
        calls.grant(seconds(lease)).thenCompose(granted -> enter(granted, sent)).whenComplete((validity, failure) -> {
            if (failure == null) {
                opened(validity);
            } else {
                over(new LossReason(LossReason.Kind.SESSION_ENDED, "it was not opened"), failure);
            }
        });
    }

    private static long seconds(Duration lease) {
        return lease.plusNanos(999_999_999).toSeconds();
    }

    /** The lease is there; its key comes with it or the session never begins. */
    private CompletionStage<EtcdSessionValidity> enter(LeaseGrantResponse granted, MonotonicTime sent) {
        leaseId = granted.getID();
        if (over) {
            revoke();
        }
        return calls.txn("opening a session", new Cmp[] {TransactionParts.isAbsent(sessionKey())}, new Op[] {putKey()})
                .thenApply(put -> {
                    if (!put.isSucceeded()) {
                        throw new BackendUnavailableException("a session of lease " + leaseId() + " was there already");
                    }
                    epoch.set(1);
                    return new EtcdSessionValidity(this, context.clock(), Duration.ofSeconds(granted.getTTL()), sent);
                });
    }

    private void opened(EtcdSessionValidity validity) {
        log.info(
                "event=session-ready lease={} ttl_ms={} endpoints={}",
                leaseId(),
                validity.lease().toMillis(),
                calls.endpoints());
        if (ready.complete(validity)) {
            context.keep(validity);
            watch.open();
        }
    }

    public ByteSequence sessionKey() {
        return keys.session(leaseId);
    }

    /** Begins the session, or a new epoch of it, where it is part of a transaction. */
    public Op putKey() {
        return TransactionParts.put(sessionKey(), EtcdKeyLayout.bytes("client=" + context.clientId()), leaseId);
    }

    public long lease() {
        return leaseId;
    }

    /** As etcd's own tools print it. */
    public String leaseId() {
        return Long.toHexString(leaseId);
    }

    /** Of acquires that are sent now. */
    public long epoch() {
        return epoch.get();
    }

    /** The store said so. */
    public void sawEpoch(long seen) {
        epoch.accumulateAndGet(seen, Math::max);
    }

    /** Which keys are put from now on. */
    public int keySeries() {
        return keySeries.get();
    }

    /** A deletion of one of its keys may yet be executed at any time: no key that is put from now on is one of those. */
    public void leaveKeysBehind() {
        keySeries.incrementAndGet();
    }

    @Override
    public boolean hasEnded() {
        return over;
    }

    /** Completes when it is open; fails with what the waiters are to be told. */
    public CompletionStage<EtcdSessionValidity> ready() {
        return ready.join();
    }

    public Optional<EtcdSessionValidity> validity() {
        return ready.now();
    }

    /** The lock as this session sees it; the caller has a slot in it from now on. */
    public Entry enter(LockName name) {
        int[] slot = new int[1];
        LockQueue queue = queues.compute(keys.contenders(name), (contenders, known) -> {
            LockQueue used = known != null ? known : new LockQueue(calls, context.clock(), contenders, this::forget);
            slot[0] = used.enter();
            return used;
        });
        if (over) {
            queue.end();
        }
        return new Entry(queue, slot[0]);
    }

    /** A slot in a queue. */
    public record Entry(LockQueue queue, int slot) {}

    private void forget(LockQueue idle) {
        queues.computeIfPresent(
                idle.contenders(), (contenders, known) -> known == idle && idle.isIdle() ? null : known);
    }

    /** Begins to ask for more time; what comes of it is told to the validity. */
    void renew(EtcdSessionValidity validity) {
        renewal.renew(validity);
    }

    /** Whether it is alive after all that the watches have told until now; ends it if not. */
    public CompletionStage<Boolean> checkAlive() {
        return renewal.checkAlive();
    }

    /** The store or an answer said that it is no more. */
    public void end(String why) {
        over(new LossReason(LossReason.Kind.SESSION_ENDED, why));
    }

    @Override
    public void over(LossReason reason) {
        over(reason, unavailable(reason.detail()));
    }

    /** From whichever side it comes: all leases are told, waiters ask for a new session, and the lease is revoked. */
    private void over(LossReason reason, Throwable failure) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
        }
        validity()
                .ifPresentOrElse(
                        validity -> {
                            log.info("event=session-ended lease={} reason=\"{}\"", leaseId(), reason);
                            validity.lost(reason);
                        },
                        () -> log.debug(
                                "event=session-not-opened lease={} cause=\"{}\"", leaseId(), failure.toString()));
        ready.fail(EtcdErrors.of(failure, "opening a session", calls.endpoints()));
        watch.close();
        queues.values().forEach(LockQueue::end);
        if (leaseId == 0) {
            closed.complete(null);
            removal.complete(true); // nothing was ever attached to a lease that may yet be granted
        } else {
            revoke();
        }
    }

    /** At once, since a client that closes repeats nothing any more; then again, until the store has answered. */
    private void revoke() {
        calls.revoke(leaseId).whenComplete((done, failure) -> {
            if (failure == null) {
                removal.complete(true);
                closed.complete(null);
                return;
            }
            closed.completeExceptionally(failure);
            Duration kept = validity().map(EtcdSessionValidity::lease).orElse(context.requestTimeout());
            context.cleanUp(
                    "lease " + leaseId() + " of a session that has ended",
                    () -> calls.revoke(leaseId).thenApply(removal::complete),
                    context.clock().now().plus(kept));
        });
    }

    /** Completes when the store has been told of its end, or could not be told. */
    @Override
    public CompletableFuture<Void> closed() {
        return closed;
    }

    /** Completes when the store has dropped it, with all its keys. */
    public CompletableFuture<Boolean> removal() {
        return removal;
    }

    public LockException unavailable(String why) {
        return new BackendUnavailableException("no session with " + calls.endpoints() + ": " + why);
    }
}
