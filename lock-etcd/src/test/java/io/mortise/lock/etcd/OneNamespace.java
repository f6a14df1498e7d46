// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.servers.etcd.EtcdEntry;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.etcd.RawEtcd;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

/** A namespace that no other test uses, with access to its keys. */
record OneNamespace(EtcdTestServer server, String name) {
    private static final ClientOptions LONG_TIMEOUT = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    static OneNamespace on(EtcdTestServer server) {
        return new OneNamespace(server, "test-" + UUID.randomUUID() + "/");
    }

    EtcdOptions options() {
        return EtcdOptions.connectTo(List.of("127.0.0.1:" + server.port())).namespace(name);
    }

    LockClient client() {
        return EtcdLocks.connect(options(), LONG_TIMEOUT);
    }

    /** Opens a client whose renewals are so far apart that none is counted. */
    LockClient client(Wire wire) {
        return EtcdLocks.connect(
                options().leaseDuration(Duration.ofMinutes(2)).interceptors(List.of(wire)), LONG_TIMEOUT);
    }

    /** Opens a client whose requests soon time out. */
    LockClient client(Wire wire, Duration requestTimeout) {
        return EtcdLocks.connect(options().interceptors(List.of(wire)), LONG_TIMEOUT.requestTimeout(requestTimeout));
    }

    RawEtcd raw() {
        return server.connect();
    }

    /** Returns the contenders for a lock, the holder first. */
    List<EtcdEntry> queue(String lock) {
        return raw().list(new EtcdKeyLayout(name).contenderPrefix(new LockName(lock))).stream()
                .sorted(Comparator.comparingLong(EtcdEntry::createRevision))
                .toList();
    }

    /** Returns the sessions of all clients. */
    List<EtcdEntry> sessions() {
        return raw().list(name + "%session/");
    }

    /** Returns all keys except those of sessions. */
    List<EtcdEntry> keys() {
        return raw().list(name).stream()
                .filter(key -> !key.key().startsWith(name + "%session/"))
                .toList();
    }
}
