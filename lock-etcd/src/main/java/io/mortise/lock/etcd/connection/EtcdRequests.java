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
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** Requests to etcd: each has a deadline, and fails with the core's exceptions. */
public final class EtcdRequests {
    private static final Op[] NOTHING = {};
    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);

    /** As many reads of whole queues are under way at once: after a break every lock needs one. */
    private static final int QUEUE_READS = 8;

    private final EtcdFailoverConnection connection;
    private final BackendContext context;
    private final RequestThrottle queueReads = new RequestThrottle(QUEUE_READS);

    public EtcdRequests(EtcdFailoverConnection connection, BackendContext context) {
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
        return ask(
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

    /** Whether it was there. */
    public CompletionStage<Boolean> delete(String what, ByteSequence key) {
        return ask(what, client -> client.getKVClient().delete(key)).thenApply(answer -> answer.getDeleted() > 0);
    }

    /** All contenders of one lock, without their values; waits while many such reads are under way. */
    public CompletionStage<GetResponse> queue(ByteSequence contenders) {
        GetOption all = GetOption.builder()
                .withRange(OptionsUtil.prefixEndOf(contenders))
                .withKeysOnly(true)
                .build();
        return queueReads.run(() -> get("a read of the queue of " + contenders, contenders, all));
    }

    /** Linearizable. */
    public CompletionStage<GetResponse> get(String what, ByteSequence key, GetOption option) {
        return repeated(() -> ask(what, client -> client.getKVClient().get(key, option)), () -> true);
    }

    public CompletionStage<LeaseGrantResponse> grant(long seconds) {
        return ask("opening a session", client -> client.getLeaseClient().grant(seconds));
    }

    /** Sent before this returns, or later if the connection is yet to be made. */
    public CompletionStage<LeaseKeepAliveResponse> keepAlive(long leaseId) {
        return ask("renewal", true, client -> client.getLeaseClient().keepAliveOnce(leaseId));
    }

    /** Linearizable: for the session's own key. */
    public CompletionStage<GetResponse> proof(ByteSequence sessionKey) {
        return ask("proof of a renewal", true, client -> client.getKVClient().get(sessionKey, GetOption.DEFAULT));
    }

    public CompletionStage<Boolean> revoke(long leaseId) {
        return ask("closing a session", client -> client.getLeaseClient().revoke(leaseId))
                .handle((revoked, failure) -> {
                    if (failure != null && !EtcdErrors.isLeaseGone(failure)) {
                        throw new CompletionException(failure);
                    }
                    return true;
                });
    }

    public CompletionStage<Set<AlarmType>> alarms() {
        return repeated(
                        () -> ask(
                                "diagnosis",
                                client -> client.getMaintenanceClient().listAlarms()),
                        () -> true)
                .thenApply(answer -> answer.getAlarms().stream()
                        .map(AlarmMember::getAlarmType)
                        .collect(Collectors.toSet()));
    }

    public CompletionStage<MemberListResponse> members() {
        return repeated(
                () -> ask(
                        "members of the cluster",
                        client -> client.getClusterClient().listMember()),
                () -> true);
    }

    /** What one member says of itself; by a connection of its own, whose failure says nothing about ours. */
    public CompletionStage<StatusResponse> status(String member, String target) {
        String what = "status of a member";
        CompletableFuture<StatusResponse> asked;
        try {
            asked = connection.client().getMaintenanceClient().statusMember(target);
        } catch (RuntimeException e) {
            asked = CompletableFuture.failedFuture(e);
        }
        return context.timed(what, asked)
                .exceptionallyCompose(failure -> CompletableFuture.failedFuture(EtcdErrors.of(failure, what, member)));
    }

    Watch.Watcher watch(ByteSequence key, WatchOption option, Watch.Listener listener) {
        return connection.client().getWatchClient().watch(key, option, listener);
    }

    /**
     * Tries again within a request timeout if there was no answer and there are other members to ask.
     *
     * @param request may be executed more than once
     * @param wanted whether somebody waits for it still
     */
    public <T> CompletionStage<T> repeated(Supplier<? extends CompletionStage<T>> request, BooleanSupplier wanted) {
        MonotonicTime until = context.clock().now().plus(context.requestTimeout());
        return connection.hasOtherMembers() ? tryFor(request, wanted, until, FIRST_PAUSE) : request.get();
    }

    private <T> CompletionStage<T> tryFor(
            Supplier<? extends CompletionStage<T>> request,
            BooleanSupplier wanted,
            MonotonicTime until,
            Duration pause) {
        return CompletableFuture.completedFuture(request)
                .thenCompose(Supplier::get)
                .exceptionallyCompose(failure -> {
                    boolean tooLate = context.clock().until(until).compareTo(pause) <= 0;
                    if (tooLate || !wanted.getAsBoolean() || !EtcdErrors.isUnknown(failure)) {
                        return CompletableFuture.failedFuture(failure);
                    }
                    CompletableFuture<T> next = new CompletableFuture<>();
                    context.clock()
                            .schedule(
                                    pause,
                                    () -> tryFor(request, wanted, until, pause.multipliedBy(2))
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

    private <T> CompletionStage<T> ask(String what, Function<Client, CompletableFuture<T>> request) {
        return ask(what, !connection.hasDeadlines(), request);
    }

    /** @param timed with a deadline on the core's clock: renewals must end whatever gRPC's own threads are doing */
    private <T> CompletionStage<T> ask(String what, boolean timed, Function<Client, CompletableFuture<T>> request) {
        CompletionStage<T> asked = unthrottled(request);
        CompletableFuture<T> answer = new CompletableFuture<>();
        (timed ? context.timed(what, asked) : asked).whenComplete((value, failure) -> {
            if (failure == null) {
                answer.complete(value);
            } else {
                answer.completeExceptionally(EtcdErrors.of(failure, what, endpoints()));
            }
        });
        return answer;
    }

    /** Asked once more if it was refused for its token's age alone: that is known not to have been executed. */
    private <T> CompletionStage<T> unthrottled(Function<Client, CompletableFuture<T>> request) {
        return once(request)
                .exceptionallyCompose(failure ->
                        EtcdErrors.isStaleToken(failure) ? once(request) : CompletableFuture.failedFuture(failure));
    }

    private <T> CompletionStage<T> once(Function<Client, CompletableFuture<T>> request) {
        EtcdMemberConnection member = connection.inUse();
        MonotonicTime sent = context.clock().now();
        CompletableFuture<T> asked;
        try {
            asked = request.apply(member.client());
        } catch (RuntimeException e) {
            asked = CompletableFuture.failedFuture(e);
        }
        return asked.whenComplete((value, failure) -> {
            if (failure != null && EtcdErrors.isLeaderless(failure)) {
                connection.leaderless(member);
            } else if (failure == null || EtcdErrors.isAnswer(failure)) {
                connection.answered(member, sent);
            } else if (EtcdErrors.isDisconnected(failure)) {
                connection.broken(member, failure);
            } else if (EtcdErrors.isLate(failure)) {
                connection.late(member, sent);
            }
        });
    }
}
