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
    private static final class Wire implements FaultyLink {
        private boolean closed;

        @Override
        public void heal() {}

        @Override
        public void close() {
            closed = true;
        }
    }

    /** A store whose sessions are numbered, and which is sometimes out of reach. */
    private static final class Numbered extends LinkedBackendUnderTest<Wire> {
        private final MemoryStore store = MemoryStore.create();
        private final List<Wire> wires = new ArrayList<>();
        private final List<LockClient> clients = new ArrayList<>();
        private final Set<String> sessions = new TreeSet<>();
        private boolean tellsNothing;
        private boolean refuses;
        private boolean isStopped;

        @Override
        protected Wire newLink() {
            Wire wire = new Wire();
            wires.add(wire);
            return wire;
        }

        @Override
        protected LockClient connect(Wire link, ClientOptions options) {
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
            if (tellsNothing || isStopped) {
                throw new IllegalStateException("as planned");
            }
            return Set.copyOf(sessions);
        }
    }

    private final Numbered backend = new Numbered();

    @AfterEach
    void close() {
        backend.clients.forEach(LockClient::close);
        backend.close();
    }

    private LockClient open() {
        return backend.open(ClientOptions.defaults());
    }

    @Test
    void eachClientHasALineAndASession() {
        backend.sessions.add("of somebody else");
        LockClient one = open();
        LockClient other = open();
        assertThat(backend.link(one)).isSameAs(backend.wires.get(0));
        assertThat(backend.link(other)).isSameAs(backend.wires.get(1));
        assertThat(backend.session(one)).isEqualTo("session 1");
        assertThat(backend.session(other)).isEqualTo("session 2");
        assertThat(backend.faults()).isSameAs(backend);
    }

    @Test
    void close_closesAllLines_alsoOfThoseWhoCouldNotConnect() {
        open();
        backend.refuses = true;
        assertThatThrownBy(this::open).isInstanceOf(BackendUnavailableException.class);
        backend.close();
        assertThat(backend.wires).hasSize(2).allMatch(wire -> wire.closed);
    }

    @Test
    void aSessionThatNobodyToldOf_isSaid() {
        try (LockClient stranger = MemoryLocks.connect(backend.store, ClientOptions.defaults())) {
            assertThatThrownBy(() -> backend.session(stranger)).hasMessageContaining("sessions()");
        }
    }

    /** As after a restart of the server. */
    @Test
    void aStoreThatCouldNotSayItsSessionsBefore_doesNotMixThemUp() {
        LockClient one = open();
        backend.isStopped = true;
        LockClient other = open();
        assertThat(backend.session(one)).isEqualTo("session 1");
        assertThat(backend.session(other)).isEqualTo("session 2");
    }

    /** Which would be found out too late. */
    @Test
    void aStoreThatCannotSayItsSessions_failsTheOpening() {
        backend.tellsNothing = true;
        assertThatThrownBy(this::open).hasMessage("as planned");
        assertThatThrownBy(() -> backend.clients.get(0).named("x").tryAcquire())
                .isInstanceOf(ClientClosedException.class);
    }
}
