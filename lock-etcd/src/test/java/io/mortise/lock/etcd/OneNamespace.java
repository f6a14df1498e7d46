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

/** A namespace that nobody else uses, and what is in it. */
record OneNamespace(EtcdTestServer server, String name) {
    static OneNamespace on(EtcdTestServer server) {
        return new OneNamespace(server, "test-" + UUID.randomUUID() + "/");
    }

    EtcdOptions options() {
        return EtcdOptions.connectTo(List.of("127.0.0.1:" + server.port())).namespace(name);
    }

    LockClient client() {
        return EtcdLocks.connect(options());
    }

    /** Its renewals are so far apart that none is counted. */
    LockClient client(Wire wire) {
        return EtcdLocks.connect(options().leaseDuration(Duration.ofMinutes(2)).interceptors(List.of(wire)));
    }

    /** Whose requests soon count as unanswered. */
    LockClient client(Wire wire, Duration requestTimeout) {
        return EtcdLocks.connect(
                options().interceptors(List.of(wire)), ClientOptions.defaults().requestTimeout(requestTimeout));
    }

    RawEtcd bare() {
        return server.connect();
    }

    /** The contenders for a lock, the holder first. */
    List<EtcdEntry> queue(String lock) {
        return bare().list(new EtcdKeyLayout(name).contenders(new LockName(lock))).stream()
                .sorted(Comparator.comparingLong(EtcdEntry::createRevision))
                .toList();
    }

    /** The sessions of all clients. */
    List<EtcdEntry> sessions() {
        return bare().list(name + "%session/");
    }

    /** All keys but the sessions'. */
    List<EtcdEntry> keys() {
        return bare().list(name).stream()
                .filter(key -> !key.key().startsWith(name + "%session/"))
                .toList();
    }
}
