// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.etcd.jetcd.lease.LeaseRevokeResponse;
import io.grpc.Status;
import io.mortise.lock.etcd.connection.PendingEtcdClient;
import io.mortise.lock.etcd.session.ModelledLeaders.Leader;
import io.mortise.lock.etcd.session.SessionRenewalScope.Flaw;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.spi.MonotonicInstant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A request of a session on its way to a leader, or its reply on the way back. */
final class SessionRequest {
    /** The lease duration that the client requests. */
    static final Duration REQUESTED = Duration.ofSeconds(10);

    private static final Status LEASE_NOT_FOUND =
            Status.NOT_FOUND.withDescription("etcdserver: requested lease not found");
    private static final long LEASE = 7;

    final PendingEtcdClient.Request request;
    final MonotonicInstant sent;
    private final @Nullable SessionRequest after; // whose reply led to it
    final int tries; // of the renewal
    boolean abandoned; // by the client
    long term; // in the reply, to a keepalive before its execution

    @Nullable
    Object reply;

    SessionRequest(PendingEtcdClient.Request request, MonotonicInstant sent, @Nullable SessionRequest after) {
        this.request = request;
        this.sent = sent;
        this.after = after;
        tries = after == null ? 1 : isKeepalive() ? after.tries + 1 : after.tries;
    }

    boolean isKeepalive() {
        return request.method().equals("keepAliveOnce");
    }

    boolean isRead() {
        return request.method().equals("get");
    }

    /** Returns the keepalive that this read confirms; null if it is another request. */
    @Nullable
    SessionRequest confirmed() {
        return isRead() && after != null && after.isKeepalive() && !after.isRefused() ? after : null;
    }

    /** Returns the keepalive that this read has confirmed; null if it has not, or is another request. */
    @Nullable
    SessionRequest counting() {
        SessionRequest keepalive = confirmed();
        boolean counts = keepalive != null
                && term == keepalive.term
                && reply instanceof GetResponse read
                && !read.getKvs().isEmpty();
        return counts ? keepalive : null;
    }

    /** Returns whether the lease was not found. */
    boolean isRefused() {
        return reply instanceof Status;
    }

    void execute(ModelledLeaders leaders, Leader leader, MonotonicInstant now, SessionRenewalScope scope) {
        long seconds = (scope.has(Flaw.REQUESTED_DURATION_COUNTS) ? REQUESTED : ModelledLeaders.GRANTED).toSeconds();
        reply = switch (request.method()) {
            case "grant" -> {
                leaders.grantLease(now);
                yield new LeaseGrantResponse(io.etcd.jetcd.api.LeaseGrantResponse.newBuilder()
                        .setID(LEASE)
                        .setTTL(seconds)
                        .build());
            }
            case "commit" -> {
                boolean puts = leaders.hasLease && !leaders.hasKey;
                leaders.hasKey |= puts;
                yield leaders.hasLease
                        ? new TxnResponse(
                                io.etcd.jetcd.api.TxnResponse.newBuilder()
                                        .setSucceeded(puts)
                                        .build(),
                                ByteSequence.EMPTY)
                        : LEASE_NOT_FOUND;
            }
            case "keepAliveOnce" ->
                leaders.renew(leader, now)
                        ? new LeaseKeepAliveResponse(io.etcd.jetcd.api.LeaseKeepAliveResponse.newBuilder()
                                .setHeader(ResponseHeader.newBuilder().setRaftTerm(term))
                                .setTTL(seconds)
                                .build())
                        : LEASE_NOT_FOUND;
            case "get" -> {
                SessionRequest keepalive = confirmed();
                term = keepalive != null && scope.has(Flaw.TERMS_ARE_NOT_COMPARED) ? keepalive.term : leader.term();
                yield read(leaders.hasKey || leaders.isReplaced(leader));
            }
            case "revoke" -> {
                leaders.endLease();
                yield new LeaseRevokeResponse(io.etcd.jetcd.api.LeaseRevokeResponse.getDefaultInstance());
            }
            default -> throw new IllegalStateException("not in the model: " + this);
        };
    }

    private GetResponse read(boolean exists) {
        RangeResponse.Builder found =
                RangeResponse.newBuilder().setHeader(ResponseHeader.newBuilder().setRaftTerm(term));
        if (exists) {
            found.addKvs(KeyValue.newBuilder()
                    .setKey(ByteString.copyFromUtf8("key"))
                    .setLease(LEASE)
                    .setVersion(1));
        }
        return new GetResponse(found.build(), ByteSequence.EMPTY);
    }

    void describe(StateKey key, MonotonicInstant now) {
        key.value(request.method()).number(tries).flags(abandoned);
        key.number(term).number(sent.until(now).toMillis());
        key.value(reply == null ? null : isRefused() ? "not found" : outcome(reply));
        SessionRequest keepalive = confirmed();
        if (keepalive != null) {
            key.number(keepalive.term).number(keepalive.sent.until(now).toMillis());
        }
    }

    private static String outcome(Object reply) {
        return reply instanceof GetResponse read
                ? "found " + read.getKvs().size()
                : reply instanceof TxnResponse put ? "put " + put.isSucceeded() : "done";
    }

    @Override
    public String toString() {
        return request.method() + (tries > 1 ? " of try " + tries : "") + (term > 0 ? " in term " + term : "");
    }
}
