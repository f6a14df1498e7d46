// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Presents another lock library to the conformance kit as a backend under test: each test has a new namespace, and each client
 * its own links to the servers.
 */
final class PeerBackendUnderTest extends LinkedBackendUnderTest<FaultTrackingLinks> {
    /** ZooKeeper rejects and some tables shorten long names. */
    private final String namespace = "p" + UUID.randomUUID().toString().substring(0, 8) + "-";

    private final Peer peer;
    private final PeerTestServers store;
    private final TestClaims test = new TestClaims();
    private final List<PeerLockClient> clients = new CopyOnWriteArrayList<>();

    PeerBackendUnderTest(Peer peer, PeerTestServers store) {
        this.peer = peer;
        this.store = store;
    }

    /** Returns what the test has used without a claim of the peer. */
    TestClaims test() {
        return test;
    }

    @Override
    protected FaultTrackingLinks newLink() {
        return new FaultTrackingLinks(store.addresses());
    }

    @Override
    protected LockClient connect(FaultTrackingLinks link, ClientOptions options) {
        PeerLockClient client = new PeerLockClient(peer, test, link, namespace, options);
        clients.add(client);
        return client;
    }

    @Override
    protected Set<String> sessions() {
        return store.sessions();
    }

    @Override
    public Duration lease() {
        return peer.lease();
    }

    /**
     * Ends the client's session or leases. If the store has neither, deletes the entries of all locks that the client holds, as
     * their expiry would.
     */
    @Override
    public void expireSession(LockClient client) {
        PeerLockClient expired = (PeerLockClient) client;
        if (!store.sessions().isEmpty()) {
            store.expire(Long.parseLong(session(client)));
        } else if (!expired.storeLeases().isEmpty()) {
            expired.storeLeases().forEach(store::expire);
        } else {
            new ArrayList<>(expired.heldNames()).forEach(name -> store.deleteGrant(peer.entry(namespace, name)));
        }
        expired.links().disturbed(FaultTrackingLinks.Fault.LONG);
    }

    @Override
    public void deleteGrant(String lockName) {
        // Before the deletion, since a waiter is granted the lock by it.
        clients.forEach(client -> client.removed(lockName));
        store.deleteGrant(peer.entry(namespace, lockName));
    }

    @Override
    public void stopServer() {
        store.stop();
        clients.forEach(client -> client.links().disturbed(FaultTrackingLinks.Fault.SHORT));
    }

    @Override
    public void startServer() {
        store.restart();
    }

    @Override
    public boolean isServerThread(Thread thread) {
        return thread.getName().startsWith(OwnerThread.NAME)
                || thread.getName().startsWith(PeerLockClient.ASYNC_THREAD_NAME)
                || thread.getName().startsWith(PeerLockClient.CLOSE_THREAD_NAME)
                || store.isServerThread(thread);
    }

    /** Returns what the clients reported in this test, for the report. */
    List<String> notes() {
        return clients.stream().flatMap(client -> client.notes().stream()).toList();
    }
}
