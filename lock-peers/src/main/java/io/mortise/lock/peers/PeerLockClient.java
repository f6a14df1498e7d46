// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.opentest4j.TestAbortedException;

/**
 * Presents a client of another lock library as a {@link LockClient}, so that the conformance kit can test it. Adds nothing
 * that the peer does not offer.
 */
final class PeerLockClient implements LockClient {
    static final String ASYNC_THREAD_NAME = "peer-async-";
    static final String CLOSE_THREAD_NAME = "peer-close-";

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(20);
    private static final AtomicLong closeCount = new AtomicLong();

    private static final Duration LONGEST_WAIT = Duration.ofMillis(Long.MAX_VALUE);

    private final Peer peer;
    private final TestClaims test;
    private final FaultTrackingLinks links;
    private final PeerLibraryClient connection;
    private final Set<PeerLease> leases = ConcurrentHashMap.newKeySet();
    private final Set<OwnerThread> acquiring = ConcurrentHashMap.newKeySet();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private volatile boolean closed;

    PeerLockClient(Peer peer, TestClaims test, FaultTrackingLinks links, String namespace, ClientOptions options) {
        this.peer = peer;
        this.test = test;
        this.links = links;
        if (options.callbackExecutor().isPresent()) {
            throw test.abort("an executor for callbacks");
        }
        try {
            this.connection = peer.connect(links.addresses(), namespace, options);
        } catch (Exception e) {
            throw new BackendUnavailableException("connect failed: " + e, e);
        }
    }

    Peer peer() {
        return peer;
    }

    /** Returns what the running test has used without a claim of the peer. */
    TestClaims test() {
        return test;
    }

    FaultTrackingLinks links() {
        return links;
    }

    List<String> notes() {
        return notes;
    }

    /** Records what the peer reported and the API of Mortise cannot express. */
    void note(String text) {
        notes.add(text);
    }

    Set<Long> storeLeases() {
        return connection.leases();
    }

    Set<String> heldNames() {
        return leases.stream().map(PeerLease::lockName).collect(Collectors.toSet());
    }

    /** Acquires a lock on a new thread of its own. */
    Optional<PeerLease> acquire(String name, Optional<Duration> maxWait) throws InterruptedException {
        if (closed) {
            throw new ClientClosedException("acquire of \"" + name + "\"");
        }
        test.requireNoAbort();
        OwnerThread owner = new OwnerThread();
        acquiring.add(owner);
        int faultsBefore = links.faults();
        long start = System.nanoTime();
        Optional<PeerGrant> grant = Optional.empty();
        try {
            grant = owner.call(() -> connection.acquire(name, maxWait.map(PeerLockClient::inMillis)));
            return grant.map(granted -> new PeerLease(this, owner, granted, name, faultsBefore));
        } catch (InterruptedException e) {
            throw e;
        } catch (TestAbortedException e) {
            throw UnclaimedGuaranteeAbort.in(e).map(test::abort).orElse(e);
        } catch (Exception e) {
            if (closed) {
                throw new ClientClosedException("acquire of \"" + name + "\": " + e);
            }
            long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
            throw new BackendUnavailableException("\"" + name + "\" after " + millis + " ms: " + e, e);
        } finally {
            acquiring.remove(owner);
            if (grant.isEmpty()) {
                owner.close();
            }
        }
    }

    /** Returns the time, or the longest one that the libraries can take, which is a number of milliseconds. */
    private static Duration inMillis(Duration time) {
        return time.compareTo(LONGEST_WAIT) < 0 ? time : LONGEST_WAIT;
    }

    /** Notes that somebody has removed the grants of a lock from the store. */
    void removed(String name) {
        leases.stream().filter(lease -> lease.lockName().equals(name)).forEach(PeerLease::removed);
    }

    void held(PeerLease lease) {
        leases.add(lease);
    }

    void ended(PeerLease lease) {
        leases.remove(lease);
    }

    @Override
    public DistributedLock named(String name) {
        return named(name, LockOptions.defaults());
    }

    @Override
    public DistributedLock named(String name, LockOptions options) {
        options.leaseDuration().ifPresent(duration -> {
            throw new IllegalArgumentException("leaseDuration " + duration + ": the peer has one for all locks");
        });
        if (options.maxHold().isPresent()) {
            throw test.abort("a maximum hold");
        }
        if (!options.metadata().isEmpty()) {
            throw test.abort("metadata of the application in the store");
        }
        return new PeerLock(this, name);
    }

    @Override
    public Set<Capability> capabilities() {
        return peer.capabilities();
    }

    @Override
    public Optional<LockAdmin> admin() {
        return Optional.empty();
    }

    /** Waits for a limited time: no peer promises that its close ends, and one that hangs would end the run of all tests. */
    private void closeConnection() {
        Thread closing = new Thread(
                () -> {
                    try {
                        connection.close();
                    } catch (Exception e) {
                        note("close: " + e);
                    }
                },
                CLOSE_THREAD_NAME + closeCount.incrementAndGet());
        closing.setDaemon(true);
        closing.start();
        boolean interrupted = Thread.interrupted();
        long start = System.nanoTime();
        while (closing.isAlive() && System.nanoTime() - start < LONGEST_CLOSE.toNanos()) {
            try {
                closing.join(LONGEST_CLOSE.toMillis());
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (closing.isAlive()) {
            note("close: not ended within " + LONGEST_CLOSE);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        closeConnection();
        leases.forEach(PeerLease::clientClosed);
        // Waits that the peer does not end would stay in this JVM for all later tests.
        acquiring.forEach(OwnerThread::interrupt);
    }
}
