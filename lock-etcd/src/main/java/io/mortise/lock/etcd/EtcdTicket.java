// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.Attempt;
import io.mortise.lock.spi.LateArming;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.Ticket;
import io.mortise.lock.spi.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One contender: a key under the lock's name, attached to the session's lease. The one that was created first holds the lock,
 * and the revision of its creation is the token. The steps of the protocol are here, each one transaction; who is to be woken
 * is the {@link LockLine}'s business.
 *
 * <p>The core does not overlap calls, but the answer to one that ran into its deadline may still come: it is not listened to,
 * and the request counts as one that may yet be executed.
 */
final class EtcdTicket implements Ticket, LineMembers.Member, LateArming.Held {
    private static final Duration FALLBACK = Duration.ofSeconds(5);

    /** How long the holder of a deleted key waits to hear whether its session went with it. */
    private static final Duration REASON_WITHIN = Duration.ofMillis(100);

    private static final int MOST_ROUNDS = 20;

    private final EtcdBackend backend;
    private final LockRequest request;
    private final Waiter waiter;
    private final ByteSequence record;
    private volatile @Nullable Place place;

    private final Unanswered unanswered = new Unanswered();
    private final SendInOrder inOrder;
    private final Removal removal;

    @GuardedBy("this")
    private boolean granted;

    /** Its key was deleted by somebody else. */
    @GuardedBy("this")
    private boolean removed;

    @GuardedBy("this")
    private boolean ended;

    /** Its key is being taken away. */
    @GuardedBy("this")
    private boolean leaving;

    /** Its slot is another's. */
    @GuardedBy("this")
    private boolean left;

    EtcdTicket(EtcdBackend backend, LockRequest request, Waiter waiter) {
        this.backend = backend;
        this.request = request;
        this.waiter = waiter;
        this.record = EtcdKeys.bytes(request.ownerRecord());
        this.inOrder = new SendInOrder(() -> new Attempt.Waiting(FALLBACK), waiter::wake);
        this.removal = new Removal(backend, request.name().value(), record);
    }

    @Override
    public CompletionStage<Attempt> attempt() {
        Place known = place;
        if (known != null) {
            return ask(known, MOST_ROUNDS);
        }
        EtcdSession on = backend.session();
        return on.liveness().isPresent() ? begin(on) : on.ready().thenCompose(liveness -> begin(on));
    }

    private CompletionStage<Attempt> begin(EtcdSession on) {
        if (isEnded()) {
            throw new BackendUnavailableException(what() + ": withdrawn");
        }
        EtcdSession.Entry entry = on.enter(request.name());
        Place first = Place.in(on, entry.line(), entry.slot());
        place = first;
        return ask(first, MOST_ROUNDS);
    }

    private CompletionStage<Attempt> ask(Place at, int rounds) {
        if (at.on().isOver()) {
            return done(sessionEnded(at));
        }
        if (isRemoved()) {
            return keyGone(at);
        }
        if (rounds == 0) {
            throw new BackendUnavailableException(what() + ": what is in the store changes too fast");
        }
        return at.since() == 0 ? acquire(at, rounds) : confirm(at, rounds);
    }

    /** Who does not wait need not stand in order either. */
    private CompletionStage<Attempt> acquire(Place at, int rounds) {
        if (!request.mayWait()) {
            return put(at, rounds);
        }
        return inOrder.send(at.line().order(), () -> {
            if (at.on().isOver()) {
                at.line().order().open();
                return done(sessionEnded(at));
            }
            return put(at, rounds);
        });
    }

    /**
     * One request: the key, and how many stand in line with it. Who does so already is ahead of it. A try, which must know whom
     * it gives way to, reads who is first instead.
     */
    private CompletionStage<Attempt> put(Place at, int rounds) {
        long epoch = at.on().epoch();
        unanswered.sending(epoch);
        return afterwards(
                at,
                backend.calls()
                        .txn(
                                what(),
                                new Cmp[] {
                                    Requests.isAbsent(at.key()),
                                    Requests.isInEpoch(at.on().sessionKey(), epoch)
                                },
                                new Op[] {
                                    Requests.put(at.key(), record, at.on().lease()),
                                    request.mayWait()
                                            ? at.line().count()
                                            : at.line().head()
                                })
                        .whenComplete((answer, failure) -> {
                            unanswered.sent(failure);
                            if (request.mayWait()) {
                                tellOthers(at, failure == null ? answer : null);
                            }
                        }),
                answer -> answer.isSucceeded() ? stood(at, answer, rounds) : look(at, rounds));
    }

    private void tellOthers(Place at, @Nullable TxnResponse answer) {
        if (answer == null) {
            at.line().order().open();
        } else {
            boolean taken = answer.isSucceeded()
                    && at.line().isTaken(answer.getGetResponses().get(0).getCount());
            at.line().order().answered(inOrder, taken);
        }
    }

    private CompletionStage<Attempt> stood(Place at, TxnResponse answer, int rounds) {
        Place now = at.since(answer.getHeader().getRevision());
        GetResponse queue = answer.getGetResponses().get(0);
        return request.mayWait() ? stands(now, queue.getCount() <= 1) : evaluate(now, queue, rounds);
    }

    /** The key was there already, or a withdrawal has begun a new epoch: rare enough for a request of its own. */
    private CompletionStage<Attempt> look(Place at, int rounds) {
        Op[] reads = {
            Requests.get(at.key()),
            Requests.getWithoutValue(at.on().sessionKey()),
            at.line().head()
        };
        return afterwards(
                at,
                backend.calls().txn(what(), new Cmp[0], reads),
                answer -> notPut(at, answer.getGetResponses(), rounds));
    }

    private CompletionStage<Attempt> notPut(Place at, List<GetResponse> reads, int rounds) {
        List<KeyValue> session = reads.get(1).getKvs();
        if (session.isEmpty()) {
            at.on().end("its key was deleted");
            return done(sessionEnded(at));
        }
        at.on().sawEpoch(session.get(0).getVersion());
        List<KeyValue> own = reads.get(0).getKvs();
        if (own.isEmpty()) {
            return ask(at, rounds - 1);
        }
        if (own.get(0).getValue().equals(record)) {
            // An earlier one was executed.
            return evaluate(at.since(own.get(0).getCreateRevision()), reads.get(2), rounds);
        }
        Place elsewhere = at.inSlot(at.line().another());
        place = elsewhere;
        return ask(elsewhere, rounds - 1);
    }

    /** The woken waiter's one request: the grant is what the store says, not what an event made us believe. */
    private CompletionStage<Attempt> confirm(Place at, int rounds) {
        return afterwards(
                at,
                backend.calls().txn(what(), new Cmp[] {Requests.isFrom(at.key(), at.since())}, new Op[] {
                    at.line().head()
                }),
                answer -> answer.isSucceeded()
                        ? evaluate(at, answer.getGetResponses().get(0), rounds)
                        : keyGone(at));
    }

    private interface Step {
        CompletionStage<Attempt> after(TxnResponse answer);
    }

    private CompletionStage<Attempt> afterwards(Place at, CompletionStage<TxnResponse> asked, Step next) {
        return asked.handle((answer, failure) -> {
                    if (failure == null) {
                        return next.after(answer);
                    }
                    if (EtcdFailure.isLeaseGone(failure)) {
                        at.on().end("its lease is gone");
                    }
                    if (at.on().isOver()) {
                        return done(sessionEnded(at));
                    }
                    return CompletableFuture.<Attempt>failedFuture(failure);
                })
                .thenCompose(stage -> stage);
    }

    private CompletionStage<Attempt> evaluate(Place at, GetResponse queue, int rounds) {
        List<KeyValue> head = queue.getKvs();
        boolean first = head.isEmpty() || head.get(0).getCreateRevision() == at.since();
        return first || request.mayWait() ? stands(at, first) : giveWay(at, head.get(0), rounds);
    }

    /**
     * A try takes its key away before it says "busy", unless who was ahead is gone by then: else those who try again and again
     * would find each other's keys and nobody the lock. What it may leave is removed with the ticket.
     */
    private CompletionStage<Attempt> giveWay(Place at, KeyValue ahead, int rounds) {
        place = at;
        return afterwards(
                at,
                backend.calls()
                        .txn(
                                what(),
                                new Cmp[] {
                                    Requests.isFrom(ahead.getKey(), ahead.getCreateRevision()),
                                    Requests.isFrom(
                                            at.key(), at.since()) // late it must not touch the next one in its slot
                                },
                                new Op[] {Requests.delete(at.key())},
                                new Op[] {at.line().head(), Requests.getWithoutValue(at.key())}),
                answer -> gaveWay(at, answer, rounds));
    }

    private CompletionStage<Attempt> gaveWay(Place at, TxnResponse answer, int rounds) {
        if (answer.isSucceeded()) {
            place = at.since(0);
            return waiting();
        }
        GetResponse queue = answer.getGetResponses().get(0);
        List<KeyValue> own = answer.getGetResponses().get(1).getKvs();
        if (own.isEmpty() || own.get(0).getCreateRevision() != at.since()) {
            return keyGone(at);
        }
        return rounds > 0 ? evaluate(at, queue, rounds - 1) : waiting();
    }

    private static CompletionStage<Attempt> waiting() {
        return done(new Attempt.Waiting(FALLBACK));
    }

    private CompletionStage<Attempt> stands(Place at, boolean first) {
        place = at;
        if (first) {
            return done(grant(at));
        }
        if (request.mayWait()) {
            at.line().await(this);
        }
        // A session that ended before we listened wakes nobody.
        return at.on().isOver() ? done(sessionEnded(at)) : waiting();
    }

    private Attempt grant(Place at) {
        synchronized (this) {
            granted = true;
        }
        if (!at.line().granted(this)) {
            backend.late().add(this); // the grant stands without it, only word of a deletion depends on it
        }
        return new Attempt.Granted(at.since(), at.on().liveness().orElseThrow());
    }

    /** The core forgets a displaced ticket; what it has in the store goes with the session's lease. */
    private Attempt sessionEnded(Place at) {
        leave(at);
        return new Attempt.Displaced("the session with " + backend.endpoints() + " ended");
    }

    private CompletionStage<Attempt> keyGone(Place at) {
        if (unanswered.mayCome()) {
            backend.settle("a request for lock \"" + request.name() + "\" without an answer", this::end);
        } else {
            leave(at);
        }
        return done(new Attempt.Displaced("the key of lock \"" + request.name() + "\" in line at " + backend.endpoints()
                + " was deleted, and not by its owner"));
    }

    private synchronized boolean isEnded() {
        return ended;
    }

    private synchronized boolean isRemoved() {
        return removed;
    }

    @Override
    public QueueView.Contender place() {
        Place at = standing();
        return new QueueView.Contender(at.key(), at.since());
    }

    private Place standing() {
        Place at = place;
        if (at == null) {
            throw new IllegalStateException("it has no place in line");
        }
        return at;
    }

    @Override
    public void turn() {
        waiter.wake();
    }

    @Override
    public void gone() {
        boolean held;
        synchronized (this) {
            removed = true;
            held = granted;
        }
        if (!held) {
            waiter.wake();
            return;
        }
        // With the session go all keys at once: then that is the reason, and not a deletion.
        CompletableFuture<Boolean> stands = new CompletableFuture<>();
        standing().on().stands().whenComplete((there, failure) -> stands.complete(true));
        backend.clock().schedule(REASON_WITHIN, () -> stands.complete(true));
        stands.whenComplete(
                (there, failure) -> waiter.lost(new LossReason(LossReason.Kind.REMOVED, "the lock's key was deleted")));
    }

    @Override
    public void watchOwn() {
        Place at = place;
        if (at != null && !at.on().isOver()) {
            at.line().guard(this);
            if (isEnded()) { // meanwhile: then nobody else makes it forget
                at.line().forget(this);
            }
        }
    }

    @Override
    public CompletionStage<Boolean> end() {
        backend.late().remove(this);
        Place at = place;
        boolean leaves;
        synchronized (this) {
            ended = true;
            leaves = at != null && at.since() != 0 && !leaving && !left;
            leaving |= leaves;
        }
        if (at == null) {
            return CompletableFuture.completedFuture(false);
        }
        if (leaves) {
            at.line().leaving();
        }
        at.line().order().leave(inOrder);
        at.line().forget(this);
        if (at.since() == 0 && !unanswered.mayBeThere()) {
            leave(at);
            return CompletableFuture.completedFuture(false);
        }
        if (at.on().isOver()) {
            return sessionGone(at);
        }
        CompletionStage<Boolean> removed =
                unanswered.mayCome() ? removal.withdraw(at, unanswered.epoch()) : removal.release(at);
        return removed.handle((was, failure) -> {
                    if (failure == null) {
                        leave(at);
                        return CompletableFuture.completedFuture(was);
                    }
                    if (EtcdFailure.isLeaseGone(failure)) {
                        at.on().end("its lease is gone");
                    }
                    return at.on().isOver() ? sessionGone(at) : CompletableFuture.<Boolean>failedFuture(failure);
                })
                .thenCompose(stage -> stage);
    }

    private CompletableFuture<Boolean> sessionGone(Place at) {
        return backend.context()
                .timed("the end of a session at " + backend.endpoints(), at.on().gone())
                .thenApply(gone -> {
                    leave(at);
                    return false;
                })
                .toCompletableFuture();
    }

    private void leave(Place at) {
        at.line().order().leave(inOrder);
        at.line().forget(this);
        boolean first;
        boolean announced;
        synchronized (this) {
            first = !left;
            left = true;
            announced = leaving;
        }
        if (first) {
            at.line().leave(at.slot(), announced);
        }
    }

    @Override
    public void abandon() {
        Place at = place;
        if (at != null) {
            at.on().end("a key of it could not be deleted for a whole lease");
        }
    }

    private String what() {
        return "acquire of lock \"" + request.name() + "\"";
    }

    private static CompletionStage<Attempt> done(Attempt attempt) {
        return CompletableFuture.completedFuture(attempt);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Place at = place;
        return type == EtcdGuard.class && at != null && at.since() != 0
                ? Optional.of(type.cast(new LeaseGuard(at.key(), at.since())))
                : Optional.empty();
    }
}
