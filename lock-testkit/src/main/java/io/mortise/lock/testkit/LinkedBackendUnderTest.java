// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Base class for a {@link BackendUnderTest} that connects each client to the store over its own {@link FaultyLink}.
 *
 * <p>It maps each client to its link and closes the links at the end. A subclass supports more faults by overriding further
 * methods of {@link Faults}. An example with a proxy between client and store:
 *
 * <pre>{@code
 * class OneNamespace extends LinkedBackendUnderTest<TcpProxy> {
 *     private final String namespace = "test-" + UUID.randomUUID();
 *
 *     protected TcpProxy newLink() { return TcpProxy.to("localhost", 5432); }
 *     protected LockClient connect(TcpProxy link, ClientOptions options) {
 *         return Locks.connect("mystore://" + link.address() + "/" + namespace, options);
 *     }
 *     public void deleteGrant(String lockName) { sql("delete from locks where name = ?", namespace + "/" + lockName); }
 * }
 * }</pre>
 *
 * <p>Thread-safe if the subclass is.
 *
 * @param <L> type of the links, such as {@link io.mortise.lock.testkit.proxy.TcpProxy}
 */
public abstract class LinkedBackendUnderTest<L extends FaultyLink> implements BackendUnderTest, Faults {
    private final List<L> links = new CopyOnWriteArrayList<>();
    private final Map<LockClient, L> linkOf = new ConcurrentHashMap<>();
    private final Map<LockClient, String> sessionOf = new ConcurrentHashMap<>();

    /** For subclasses. */
    protected LinkedBackendUnderTest() {}

    /** Creates an unused link to the store. It is closed with this object, even if no client could connect over it. */
    protected abstract L newLink();

    /** Opens a new client that connects to the store only over that link; otherwise as {@link BackendUnderTest#open}. */
    protected abstract LockClient connect(L link, ClientOptions options);

    /**
     * Returns the ids of all sessions that the store has now, of all clients. A session that is new after a client was opened
     * is that client's {@link #session}. Called before and after each client is opened; the first call may fail, since the
     * server may be stopped. Default: none.
     */
    protected Set<String> sessions() {
        return Set.of();
    }

    @Override
    public final LockClient open(ClientOptions options) {
        L link = newLink();
        links.add(link);
        Set<String> before = sessionsIfReachable();
        LockClient client = connect(link, options);
        linkOf.put(client, link);
        try {
            sessions().stream()
                    .filter(session -> !before.contains(session) && !sessionOf.containsValue(session))
                    .findFirst()
                    .ifPresent(session -> sessionOf.put(client, session));
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
        return client;
    }

    private Set<String> sessionsIfReachable() {
        try {
            return sessions();
        } catch (RuntimeException e) {
            return Set.of();
        }
    }

    @Override
    public Faults faults() {
        return this;
    }

    @Override
    public final L link(LockClient client) {
        return Objects.requireNonNull(linkOf.get(client), "the client was not opened by this backend");
    }

    /**
     * Returns the id of the session that was created when the client was opened; used by {@link #expireSession}.
     *
     * @throws IllegalStateException if {@link #sessions()} did not return a new session then
     */
    protected final String session(LockClient client) {
        String session = sessionOf.get(client);
        if (session == null) {
            throw new IllegalStateException("sessions() returned no new session when this client was opened");
        }
        return session;
    }

    /** Closes all links. A method that overrides this must call it. */
    @Override
    public void close() {
        links.forEach(FaultyLink::close);
    }
}
