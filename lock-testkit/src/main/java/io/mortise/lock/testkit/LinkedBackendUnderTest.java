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
 * A {@link BackendUnderTest} in which each client reaches the store over a link of its own, which faults can break. It knows
 * whose link is whose and closes the links at the end; what else can be broken, a subclass says by overriding more of {@link
 * Faults}. With a proxy between client and store:
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
 * <p>Thread-safe if what the subclass adds is.
 *
 * @param <L> what a link is here, such as {@link io.mortise.lock.testkit.proxy.TcpProxy}
 */
public abstract class LinkedBackendUnderTest<L extends FaultyLink> implements BackendUnderTest, Faults {
    private final List<L> links = new CopyOnWriteArrayList<>();
    private final Map<LockClient, L> linkOf = new ConcurrentHashMap<>();
    private final Map<LockClient, String> sessionOf = new ConcurrentHashMap<>();

    /** For subclasses. */
    protected LinkedBackendUnderTest() {}

    /** A link to the store that nobody uses yet. It is closed with this, also if nobody could connect over it. */
    protected abstract L newLink();

    /** A new client that reaches the store over that link alone; otherwise as {@link BackendUnderTest#open}. */
    protected abstract LockClient connect(L link, ClientOptions options);

    /**
     * What the store calls the sessions that it has now, of whichever clients: the one that comes with a client is its {@link
     * #session}. It is asked before and after each client is opened; before, it may fail, as the server may be stopped.
     * Default: none.
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
        return Objects.requireNonNull(linkOf.get(client), "not opened here");
    }

    /**
     * What the store calls the session with which the client was opened: for {@link #expireSession}.
     *
     * @throws IllegalStateException if {@link #sessions()} did not tell of it
     */
    protected final String session(LockClient client) {
        String session = sessionOf.get(client);
        if (session == null) {
            throw new IllegalStateException("sessions() told of no new one when this client was opened");
        }
        return session;
    }

    /** Closes all links. What overrides this calls it. */
    @Override
    public void close() {
        links.forEach(FaultyLink::close);
    }
}
