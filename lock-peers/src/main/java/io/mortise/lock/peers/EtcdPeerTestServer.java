// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.servers.etcd.EtcdEntry;
import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import java.util.Comparator;
import java.util.List;

/** Starts the etcd server on which the lock libraries are compared. */
final class EtcdPeerTestServer implements PeerTestServers {
    private final EtcdTestServer server =
            EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData());

    @Override
    public List<String> addresses() {
        return List.of("127.0.0.1:" + server.port());
    }

    /** Deletes the oldest key below the lock's name, which etcd's lock service considers the holder. */
    @Override
    public void deleteGrant(String entry) {
        server.connect().list(entry).stream()
                .min(Comparator.comparingLong(EtcdEntry::createRevision))
                .ifPresent(holder -> server.connect().delete(holder.key()));
    }

    @Override
    public void expire(long lease) {
        server.connect().revokeLease(lease);
    }

    @Override
    public void stop() {
        server.stop();
    }

    @Override
    public void restart() {
        server.restart();
    }

    @Override
    public void close() {
        server.close();
    }
}
