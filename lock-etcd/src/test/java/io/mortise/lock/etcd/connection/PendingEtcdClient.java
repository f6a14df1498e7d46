// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Maintenance;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A jetcd client without a server: its requests wait for the test to answer them. */
public final class PendingEtcdClient implements InvocationHandler {
    private final List<Request> pending = new ArrayList<>();
    private @Nullable Error thrown;

    /** A request without a response, by the name of jetcd's method. */
    public record Request(String method, CompletableFuture<Object> response) {}

    /** Returns a sender of requests through this client, as of an application. */
    public EtcdRequestSender sender(BackendContext context, Duration lease) {
        EtcdSettings settings = new EtcdSettings(
                List.of(),
                Optional.of(proxy(Client.class)),
                "mortise/",
                lease,
                Optional.empty(),
                Optional.empty(),
                List.of());
        EtcdFailoverConnection connection = new EtcdFailoverConnection(settings, context);
        connection.open();
        return new EtcdRequestSender(connection, context);
    }

    /**
     * Returns a context that adds no timeouts.
     *
     * @param cleanups receives the cleanups
     */
    public static BackendContext context(
            LockClock clock, Duration requestTimeout, List<Supplier<CompletionStage<?>>> cleanups) {
        return (BackendContext) Proxy.newProxyInstance(
                BackendContext.class.getClassLoader(),
                new Class<?>[] {BackendContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "clock" -> clock;
                    case "clientId" -> "c";
                    case "connectTimeout", "requestTimeout" -> requestTimeout;
                    case "blocking" -> (Executor) Runnable::run;
                    case "register" -> null;
                    case "withRequestTimeout" -> arguments[1];
                    case "cleanUp" -> {
                        cleanups.add(cleanup(arguments[1]));
                        yield null;
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @SuppressWarnings("unchecked")
    private static Supplier<CompletionStage<?>> cleanup(Object supplier) {
        return (Supplier<CompletionStage<?>>) supplier;
    }

    private <T> T proxy(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, this));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) {
        return switch (method.getName()) {
            case "getKVClient" -> proxy(KV.class);
            case "getLeaseClient" -> proxy(Lease.class);
            case "getWatchClient" -> proxy(Watch.class);
            case "getMaintenanceClient" -> proxy(Maintenance.class);
            case "watch" -> proxy(Watch.Watcher.class);
            case "txn" -> proxy(Txn.class);
            case "If", "Then", "Else" -> proxy;
            case "commit", "delete", "get", "grant", "keepAliveOnce", "revoke" -> send(method.getName());
            case "isClosed" -> false;
            case "close" -> null;
            default -> throw new UnsupportedOperationException(method.getName());
        };
    }

    private CompletableFuture<Object> send(String method) {
        CompletableFuture<Object> response = new CompletableFuture<>();
        pending.add(new Request(method, response));
        if (thrown != null) {
            Error now = thrown;
            thrown = null;
            throw now;
        }
        return response;
    }

    /** Throws an error once a request has been sent. */
    public void throwAfterNextRequest(Error error) {
        thrown = error;
    }

    /** Takes the requests that have no response, in the order in which they were sent. */
    public List<Request> takeAll() {
        List<Request> taken = List.copyOf(pending);
        pending.clear();
        return taken;
    }

    /** Returns the methods of the requests that have no response. */
    public List<String> pending() {
        return pending.stream().map(Request::method).toList();
    }

    private CompletableFuture<Object> take(String method) {
        Request request = pending.stream()
                .filter(each -> each.method.equals(method))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + method + " in " + pending()));
        pending.remove(request);
        return request.response;
    }

    /** Lets the oldest request of that method have no response. */
    public void fail(String method) {
        take(method).completeExceptionally(new BackendUnavailableException("as planned"));
    }

    public void grantLease(long id) {
        take("grant")
                .complete(new LeaseGrantResponse(io.etcd.jetcd.api.LeaseGrantResponse.newBuilder()
                        .setID(id)
                        .setTTL(10)
                        .build()));
    }

    public void revokeLease() {
        take("revoke").complete(new LeaseRevokeResponse(io.etcd.jetcd.api.LeaseRevokeResponse.getDefaultInstance()));
    }

    /** Executes the oldest transaction, whose condition is false. */
    public void refusePut() {
        take("commit")
                .complete(new TxnResponse(io.etcd.jetcd.api.TxnResponse.getDefaultInstance(), ByteSequence.EMPTY));
    }

    /** Executes the oldest transaction, which reads a contender's key that does not exist, its session's, and the queue. */
    public void readSession(long epoch) {
        take("commit")
                .complete(new TxnResponse(
                        io.etcd.jetcd.api.TxnResponse.newBuilder()
                                .setSucceeded(true)
                                .addResponses(range(RangeResponse.newBuilder()))
                                .addResponses(range(RangeResponse.newBuilder()
                                        .addKvs(KeyValue.newBuilder().setVersion(epoch))))
                                .addResponses(range(RangeResponse.newBuilder()))
                                .build(),
                        ByteSequence.EMPTY));
    }

    private static ResponseOp.Builder range(RangeResponse.Builder found) {
        return ResponseOp.newBuilder().setResponseRange(found);
    }

    /** Executes the oldest transaction, which puts a key. It finds that many contenders. */
    public void put(long revision, long contenders) {
        take("commit")
                .complete(new TxnResponse(
                        io.etcd.jetcd.api.TxnResponse.newBuilder()
                                .setHeader(ResponseHeader.newBuilder().setRevision(revision))
                                .setSucceeded(true)
                                .addResponses(ResponseOp.newBuilder().setResponsePut(PutResponse.getDefaultInstance()))
                                .addResponses(ResponseOp.newBuilder()
                                        .setResponseRange(
                                                RangeResponse.newBuilder().setCount(contenders)))
                                .build(),
                        ByteSequence.EMPTY));
    }
}
