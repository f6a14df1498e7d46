// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ADR 0035: when a member is left for the next one. Nobody listens at their addresses. */
class ConnectionTest {
    private static final Duration A_TRY = Duration.ofMillis(1_250);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private final ManualClock clock = new ManualClock();
    private final Queue<Runnable> moves = new ConcurrentLinkedQueue<>();
    private boolean isOpen;
    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            ConnectionTest.class.getClassLoader(),
            new Class<?>[] {BackendContext.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> clock;
                case "connectTimeout", "requestTimeout" -> Duration.ofSeconds(5);
                case "blocking" -> isOpen ? (Executor) moves::add : (Executor) Runnable::run;
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final Connection connection =
            new Connection(EtcdOptions.connectTo(List.of("127.0.0.1:1", "127.0.0.1:2")), context);

    @BeforeEach
    void open() {
        connection.open();
        isOpen = true;
    }

    @AfterEach
    void close() {
        connection.close();
    }

    /** A request is sent and has no answer in time; something else arrives meanwhile, or not. */
    private void late(MemberClient member, boolean heard) {
        clock.advance(INSTANT);
        long sent = clock.nanoTime();
        clock.advance(A_TRY);
        if (heard) {
            member.heard();
        }
        connection.late(member, sent);
    }

    private void move() {
        assertThat(moves).hasSize(1);
        moves.remove().run();
    }

    @Test
    void S15_aMemberThatIsSilentIsLeftForTheNextOneAndThenInTurn() {
        MemberClient first = connection.inUse();
        late(first, false);
        late(first, false); // it is being left already
        move();
        MemberClient second = connection.inUse();
        assertThat(second.endpoints()).isNotEqualTo(first.endpoints());
        late(first, false); // that one was left long ago
        assertThat(moves).isEmpty();
        late(second, false);
        move();
        assertThat(connection.inUse().endpoints()).isEqualTo(first.endpoints());
    }

    /** As during an election: another one would not know more. */
    @Test
    void S15_aMemberThatIsLateButHeardOfIsKept() {
        MemberClient first = connection.inUse();
        for (int i = 0; i < 10; i++) {
            late(first, true);
        }
        assertThat(moves).isEmpty();
        assertThat(connection.inUse()).isSameAs(first);
    }

    @Test
    void S11_aMemberWhoseWatchStreamIsSilentIsLeftThoughNothingIsAsked() {
        MemberClient first = connection.inUse();
        first.silent();
        move();
        assertThat(connection.inUse().endpoints()).isNotEqualTo(first.endpoints());
    }
}
