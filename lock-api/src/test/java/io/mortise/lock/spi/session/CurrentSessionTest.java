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
import org.junit.jupiter.api.Timeout;

class CurrentSessionTest {
    private final List<Fake> made = new ArrayList<>();
    private final CurrentSession<Fake> sessions = new CurrentSession<>(Fake::new);
    private boolean refuses;

    private final class Fake implements CurrentSession.Session {
        private int begun;
        private final List<LossReason> ends = new ArrayList<>();

        Fake() {
            if (refuses) {
                throw new IllegalStateException("no handle");
            }
            made.add(this);
        }

        @Override
        public void begin() {
            begun++;
            CompletableFuture.runAsync(sessions::last).join(); // who asks meanwhile is not held up
        }

        @Override
        public boolean hasEnded() {
            return !ends.isEmpty();
        }

        @Override
        public void over(LossReason reason) {
            ends.add(reason);
        }

        @Override
        public CompletableFuture<Void> closed() {
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    @Timeout(20)
    void thereIsOneUntilItEnds() {
        assertThat(sessions.last()).isEmpty();
        Fake first = sessions.get();
        assertThat(sessions.get()).isSameAs(first);
        first.over(new LossReason(LossReason.Kind.SESSION_ENDED, "expired"));
        assertThat(sessions.last()).contains(first);
        Fake second = sessions.get();
        assertThat(made).containsExactly(first, second).allMatch(session -> session.begun == 1);
    }

    @Test
    void oneThatCouldNotBeMadeIsTriedAgain() {
        refuses = true;
        assertThatThrownBy(sessions::get).hasMessage("no handle");
        refuses = false;
        assertThat(sessions.get()).isSameAs(made.get(0));
    }

    @Test
    void S16_theClientsEndEndsItOnceAndThereIsNoOther() {
        Fake last = sessions.get();
        assertThat(sessions.end()).contains(last);
        assertThat(sessions.end()).isEmpty();
        assertThat(last.ends).containsExactly(new LossReason(LossReason.Kind.CLIENT_CLOSED, "the client was closed"));
        assertThatThrownBy(sessions::get).isInstanceOf(ClientClosedException.class);
    }
}
