// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.cluster.MemberListResponse;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.maintenance.AlarmMember;
import io.etcd.jetcd.maintenance.AlarmType;
import io.etcd.jetcd.maintenance.StatusResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.WatchOption;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Sends requests to etcd with a deadline, and translates their failures into Mortise's exceptions. */
public final class EtcdRequestSender {
    private static final Op[] NOTHING = {};
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    /** The maximum number of concurrent reads of whole queues: after a disconnect every lock needs one. */
    private static final int MAX_QUEUE_READS = 8;

    private final EtcdFailoverConnection connection;
    private final BackendContext context;
    private final RequestThrottle queueReads = new RequestThrottle(MAX_QUEUE_READS);
    private final AtomicReference<@Nullable CompletableFuture<Boolean>> tokenRead = new AtomicReference<>();

    public EtcdRequestSender(EtcdFailoverConnection connection, BackendContext context) {
        this.connection = connection;
        this.context = context;
    }

    EtcdFailoverConnection connection() {
        return connection;
    }

    public String endpoints() {
        return connection.endpoints();
    }

    public CompletionStage<TxnResponse> txn(String what, Cmp[] conditions, Op[] then, Op[] otherwise) {
        return send(
                what,
                client -> client.getKVClient()
                        .txn()
                        .If(conditions)
                        .Then(then)
                        .Else(otherwise)
                        .commit());
    }

    public CompletionStage<TxnResponse> txn(String what, Cmp[] conditions, Op[] then) {
        return txn(what, conditions, then, NOTHING);
    }

    /** Deletes a key. Returns whether it existed. */
    public CompletionStage<Boolean> delete(String what, ByteSequence key) {
        return send(what, client -> client.getKVClient().delete(key)).thenApply(result -> result.getDeleted() > 0);
    }

    /**
     * Reads all contenders of one lock, without their values. Waits while too many such reads are in flight.
     *
     * @param stillNeeded returns whether a caller still waits for the read, when it is its turn
     */
    public CompletionStage<GetResponse> queue(ByteSequence contenders, BooleanSupplier stillNeeded) {
        GetOption all = GetOption.builder()
                .withRange(OptionsUtil.prefixEndOf(contenders))
                .withKeysOnly(true)
                .build();
        return queueReads.run(() -> stillNeeded.getAsBoolean()
                ? get("a read of the queue of " + contenders, contenders, all)
                : CompletableFuture.failedFuture(new CancellationException("no caller waits for the read")));
    }

    /** Reads keys with a linearizable read. */
    public CompletionStage<GetResponse> get(String what, ByteSequence key, GetOption option) {
        return retrying(() -> send(what, client -> client.getKVClient().get(key, option)), () -> true);
    }

    /** Creates a lease of that duration, rounded up to whole seconds. */
    public CompletionStage<LeaseGrantResponse> grant(String what, Duration duration) {
        long seconds = duration.plusNanos(999_999_999).toSeconds();
        return send(what, client -> client.getLeaseClient().grant(seconds));
    }

    /**
     * Sends a keepalive before this method returns, or later if the connection is not established yet or a new token is on its way. A
     * reply does not show that the member serves requests: it passes keepalives on to the leader.
     */
    public CompletionStage<LeaseKeepAliveResponse> keepAlive(long leaseId) {
        return send(
                "renewal",
                true,
                EtcdMemberConnection::onResponse,
                client -> client.getLeaseClient().keepAliveOnce(leaseId));
    }

    /** Reads the session's own key with a linearizable read. */
    public CompletionStage<GetResponse> readSession(ByteSequence sessionKey) {
        return send("check of a renewal", true, client -> client.getKVClient().get(sessionKey, GetOption.DEFAULT));
    }

    public CompletionStage<Boolean> revoke(long leaseId) {
        return send("closing a session", client -> client.getLeaseClient().revoke(leaseId))
                .handle((revoked, failure) -> {
                    if (failure != null && !EtcdErrors.isLeaseNotFound(failure)) {
                        throw new CompletionException(failure);
                    }
                    return true;
                });
    }

    public CompletionStage<Set<AlarmType>> alarms() {
        return retrying(
                        () -> send(
                                "diagnosis",
                                client -> client.getMaintenanceClient().listAlarms()),
                        () -> true)
                .thenApply(result -> result.getAlarms().stream()
                        .map(AlarmMember::getAlarmType)
                        .collect(Collectors.toSet()));
    }

    /** Lists the members. A reply does not show that the member serves requests: it may come from its memory. */
    public CompletionStage<MemberListResponse> members() {
        return retrying(
                () -> send(
                        "members of the cluster",
                        !connection.hasDeadlines(),
                        EtcdMemberConnection::onResponse,
                        client -> client.getClusterClient().listMember()),
                () -> true);
    }

    /**
     * Requests the status of one member. The request uses a separate connection, whose failure says nothing about the
     * current one.
     */
    public CompletionStage<StatusResponse> status(String member, String target) {
        String what = "status of a member";
        CompletableFuture<StatusResponse> pending;
        try {
            pending = connection.client().getMaintenanceClient().statusMember(target);
        } catch (RuntimeException e) {
            pending = CompletableFuture.failedFuture(e);
        }
        return context.withRequestTimeout(what, pending)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(EtcdErrors.of(failure, what, member)));
    }

    Watch.Watcher watch(ByteSequence key, WatchOption option, Watch.Listener listener) {
        return connection.current().watchClient().watch(key, option, listener);
    }

    /**
     * Retries within a request timeout if there was no reply and there are other members.
     *
     * @param request sends the request; may be executed more than once
     * @param stillNeeded returns whether a caller still waits for the request
     */
    public <T> CompletionStage<T> retrying(
            Supplier<? extends CompletionStage<T>> request, BooleanSupplier stillNeeded) {
        MonotonicInstant until = context.clock().now().plus(context.requestTimeout());
        return connection.hasOtherMembers() ? retryUntil(request, stillNeeded, until, FIRST_PAUSE) : request.get();
    }

    private <T> CompletionStage<T> retryUntil(
            Supplier<? extends CompletionStage<T>> request,
            BooleanSupplier stillNeeded,
            MonotonicInstant until,
            Duration pause) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(Supplier::get)
                .exceptionallyCompose(failure -> {
                    boolean tooLate = context.clock().until(until).compareTo(pause) <= 0;
                    if (tooLate || !stillNeeded.getAsBoolean() || !EtcdErrors.hasUnknownOutcome(failure)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    CompletableFuture<T> next = new CompletableFuture<>();
                    context.clock()
                            .schedule(
                                    pause,
                                    () -> retryUntil(request, stillNeeded, until, pause.multipliedBy(2))
                                            .whenComplete((value, last) -> {
                                                if (last == null) {
                                                    next.complete(value);
                                                } else {
                                                    next.completeExceptionally(last);
                                                }
                                            }));
                    return next;
                });
    }

    private <T> CompletionStage<T> send(String what, Function<Client, CompletableFuture<T>> request) {
        return send(what, !connection.hasDeadlines(), request);
    }

    /**
     * @param timed whether to add a deadline on the core's clock: renewals must end whatever gRPC's own threads are doing
     */
    private <T> CompletionStage<T> send(String what, boolean timed, Function<Client, CompletableFuture<T>> request) {
        MonotonicInstant sent = context.clock().now();
        return send(what, timed, member -> connection.onReply(member, sent), request);
    }

    /** @param onReply receives the member that has replied */
    private <T> CompletionStage<T> send(
            String what,
            boolean timed,
            Consumer<EtcdMemberConnection> onReply,
            Function<Client, CompletableFuture<T>> request) {
        CompletionStage<T> pending = sendWithFreshToken(onReply, request);
        CompletableFuture<T> result = new CompletableFuture<>();
        (timed ? context.withRequestTimeout(what, pending) : pending).whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(EtcdErrors.of(failure, what, endpoints()));
            }
        });
        return result;
    }

    /**
     * Sends the request once more if it was refused only because its token was too old, since then it was not executed. While a new
     * token is on its way, all requests wait for it: jetcd would get one for each, and each costs the server a password hash.
     */
    private <T> CompletionStage<T> sendWithFreshToken(
            Consumer<EtcdMemberConnection> onReply, Function<Client, CompletableFuture<T>> request) {
        MonotonicInstant until = context.clock().now().plus(context.requestTimeout());
        CompletableFuture<Boolean> pending = tokenRead.get();
        CompletionStage<T> sent =
                pending == null ? sendOnce(onReply, request) : sendAfter(pending, until, onReply, request);
        return sent.exceptionallyCompose(failure -> EtcdErrors.isStaleToken(failure)
                ? sendAfter(newToken(), until, onReply, request)
                : CompletableFuture.failedFuture(failure));
    }

    /** Sends nothing for a caller that waits no longer. */
    private <T> CompletionStage<T> sendAfter(
            CompletionStage<Boolean> token,
            MonotonicInstant until,
            Consumer<EtcdMemberConnection> onReply,
            Function<Client, CompletableFuture<T>> request) {
        return token.thenCompose(done -> context.clock().hasPassed(until)
                ? CompletableFuture.failedFuture(
                        new BackendUnavailableException("no new token from " + endpoints() + " in time"))
                : sendOnce(onReply, request));
    }

    /** Sends one read for all requests that need a new token meanwhile. Completes normally, whatever its outcome. */
    private CompletionStage<Boolean> newToken() {
        CompletableFuture<Boolean> own = new CompletableFuture<>();
        CompletableFuture<Boolean> pending = tokenRead.compareAndExchange(null, own);
        if (pending != null) {
            return pending;
        }
        MonotonicInstant sent = context.clock().now();
        try {
            // What it shows of the member counts: until it ends, no other request does.
            context.withRequestTimeout(
                            "a new token",
                            sendTo(member -> connection.onReply(member, sent), EtcdMemberConnection::read))
                    .whenComplete((reply, failure) -> tokenReadEnded(own));
        } catch (RuntimeException | Error e) { // all requests wait for it
            tokenReadEnded(own);
        }
        return own;
    }

    private void tokenReadEnded(CompletableFuture<Boolean> read) {
        tokenRead.set(null);
        read.complete(true);
    }

    private <T> CompletionStage<T> sendOnce(
            Consumer<EtcdMemberConnection> onReply, Function<Client, CompletableFuture<T>> request) {
        return sendTo(onReply, member -> request.apply(member.client()));
    }

    private <T> CompletionStage<T> sendTo(
            Consumer<EtcdMemberConnection> onReply, Function<EtcdMemberConnection, CompletableFuture<T>> request) {
        EtcdMemberConnection member = connection.current();
        MonotonicInstant sent = context.clock().now();
        CompletableFuture<T> pending;
        try {
            pending = request.apply(member);
        } catch (RuntimeException e) {
            pending = CompletableFuture.failedFuture(e);
        }
        return pending.handle((value, failure) -> {
            if (failure == null) {
                onReply.accept(member);
                return value;
            }
            if (EtcdErrors.isNotServed(failure)) {
                connection.onNotServed(member);
            } else if (EtcdErrors.isServerReply(failure)) {
                onReply.accept(member);
            } else if (EtcdErrors.isDisconnected(failure)) {
                if (connection.onDisconnected(member, failure) && EtcdErrors.isWrongTls(failure)) {
                    throw new BackendUnavailableException(
                            "TLS with " + member.endpoints() + " failed: " + EtcdErrors.summary(failure), failure);
                }
            } else if (EtcdErrors.isTimeout(failure)) {
                connection.onTimeout(member, sent);
            }
            throw new CompletionException(failure);
        });
    }
}
