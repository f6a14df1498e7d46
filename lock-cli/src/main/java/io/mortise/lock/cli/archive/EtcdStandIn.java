// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.archive;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseRevokeResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Answers a client as an etcd without any lock does. */
final class EtcdStandIn implements AutoCloseable {
    private final Server server;

    EtcdStandIn() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Leases())
                .addService(new Keys())
                .build()
                .start();
    }

    String url() {
        return "etcd://127.0.0.1:" + server.getPort();
    }

    @Override
    public void close() {
        server.shutdownNow();
    }

    private static <T> void answer(StreamObserver<T> client, T answer) {
        client.onNext(answer);
        client.onCompleted();
    }

    private static final class Leases extends LeaseGrpc.LeaseImplBase {
        @Override
        public void leaseGrant(LeaseGrantRequest asked, StreamObserver<LeaseGrantResponse> client) {
            answer(
                    client,
                    LeaseGrantResponse.newBuilder()
                            .setID(1)
                            .setTTL(asked.getTTL())
                            .build());
        }

        @Override
        public void leaseRevoke(LeaseRevokeRequest asked, StreamObserver<LeaseRevokeResponse> client) {
            answer(client, LeaseRevokeResponse.getDefaultInstance());
        }
    }

    private static final class Keys extends KVGrpc.KVImplBase {
        @Override
        public void txn(TxnRequest asked, StreamObserver<TxnResponse> client) {
            answer(client, TxnResponse.newBuilder().setSucceeded(true).build());
        }

        @Override
        public void range(RangeRequest asked, StreamObserver<RangeResponse> client) {
            answer(client, RangeResponse.getDefaultInstance());
        }
    }
}
