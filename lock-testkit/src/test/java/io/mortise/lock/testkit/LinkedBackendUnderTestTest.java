// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.testkit.proxy.FaultyLink;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LinkedBackendUnderTestTest {
    private static final class RecordedLink implements FaultyLink {
        private boolean closed;

        @Override
        public void heal() {}

        @Override
        public void close() {
            closed = true;
        }
    }

    /** A backend whose sessions are numbered, and whose store may be unreachable. */
    private static final class NumberedSessions extends LinkedBackendUnderTest<RecordedLink> {
        private final MemoryStore store = MemoryStore.create();
        private final List<RecordedLink> links = new ArrayList<>();
        private final List<LockClient> clients = new ArrayList<>();
        private final Set<String> sessions = new TreeSet<>();
        private boolean sessionsFail;
        private boolean refuses;
        private boolean isStopped;

        @Override
        protected RecordedLink newLink() {
            RecordedLink link = new RecordedLink();
            links.add(link);
            return link;
        }

        @Override
        protected LockClient connect(RecordedLink link, ClientOptions options) {
            if (refuses) {
                throw new BackendUnavailableException("as planned");
            }
            LockClient client = MemoryLocks.connect(store, options);
            clients.add(client);
            sessions.add("session " + clients.size());
            isStopped = false;
            return client;
        }

        @Override
        protected Set<String> sessions() {
            if (sessionsFail || isStopped) {
                throw new IllegalStateException("as planned");
            }
            return Set.copyOf(sessions);
        }
    }

    private final NumberedSessions backend = new NumberedSessions();

    @AfterEach
    void close() {
        backend.clients.forEach(LockClient::close);
        backend.close();
    }

    private LockClient open() {
        return backend.open(ClientOptions.defaults());
    }

    @Test
    void eachClientHasALinkAndASession() {
        backend.sessions.add("of another client");
        LockClient one = open();
        LockClient other = open();
        assertThat(backend.link(one)).isSameAs(backend.links.get(0));
        assertThat(backend.link(other)).isSameAs(backend.links.get(1));
        assertThat(backend.session(one)).isEqualTo("session 1");
        assertThat(backend.session(other)).isEqualTo("session 2");
        assertThat(backend.faults()).isSameAs(backend);
    }

    @Test
    void close_closesAllLinks_evenIfTheClientCouldNotConnect() {
        open();
        backend.refuses = true;
        assertThatThrownBy(this::open).isInstanceOf(BackendUnavailableException.class);
        backend.close();
        assertThat(backend.links).hasSize(2).allMatch(link -> link.closed);
    }

    @Test
    void session_failsForAnUnknownClient() {
        try (LockClient stranger = MemoryLocks.connect(backend.store, ClientOptions.defaults())) {
            assertThatThrownBy(() -> backend.session(stranger)).hasMessageContaining("sessions()");
        }
    }

    /** The situation after a restart of the server. */
    @Test
    void sessionsAreAssignedCorrectly_ifTheStoreWasUnreachableBefore() {
        LockClient one = open();
        backend.isStopped = true;
        LockClient other = open();
        assertThat(backend.session(one)).isEqualTo("session 1");
        assertThat(backend.session(other)).isEqualTo("session 2");
    }

    /** Otherwise the missing session would be detected too late. */
    @Test
    void open_fails_ifTheSessionsCannotBeRead() {
        backend.sessionsFail = true;
        assertThatThrownBy(this::open).hasMessage("as planned");
        assertThatThrownBy(() -> backend.clients.get(0).named("x").tryAcquire())
                .isInstanceOf(ClientClosedException.class);
    }
}
