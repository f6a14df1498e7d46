// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests when the current session of a client is created, reused and ended. */
class CurrentSessionTest {
    private final List<Fake> created = new ArrayList<>();
    private final CurrentSession<Fake> sessions = new CurrentSession<>(Fake::new);
    private boolean openFails;

    private final class Fake implements CurrentSession.Session {
        private int begun;
        private final List<LossReason> ends = new ArrayList<>();

        Fake() {
            if (openFails) {
                throw new IllegalStateException("no handle");
            }
            created.add(this);
        }

        @Override
        public void open() {
            begun++;
            CompletableFuture.runAsync(sessions::last).join(); // other threads are not blocked during begin()
        }

        @Override
        public boolean hasEnded() {
            return !ends.isEmpty();
        }

        @Override
        public void end(LossReason reason) {
            ends.add(reason);
        }

        @Override
        public CompletableFuture<Void> closed() {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void returnsTheSameSessionUntilItEnds() {
        assertThat(sessions.last()).isEmpty();
        Fake first = sessions.get();
        assertThat(sessions.get()).isSameAs(first);
        first.end(new LossReason(LossReason.Kind.SESSION_ENDED, "expired"));
        assertThat(sessions.last()).contains(first);
        Fake second = sessions.get();
        assertThat(created).containsExactly(first, second).allMatch(session -> session.begun == 1);
    }

    @Test
    void aFailedCreationIsRetriedByTheNextCall() {
        openFails = true;
        assertThatThrownBy(sessions::get).hasMessage("no handle");
        openFails = false;
        assertThat(sessions.get()).isSameAs(created.get(0));
    }

    @Test
    void S16_endEndsTheSessionOnceAndAllowsNoOther() {
        Fake last = sessions.get();
        assertThat(sessions.close()).contains(last);
        assertThat(sessions.close()).isEmpty();
        assertThat(last.ends).containsExactly(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
        assertThatThrownBy(sessions::get).isInstanceOf(ClientClosedException.class);
    }
}
