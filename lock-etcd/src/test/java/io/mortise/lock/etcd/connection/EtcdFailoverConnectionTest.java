// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ADR 0035: when a member is left for the next one. Nobody listens at their addresses. */
class EtcdFailoverConnectionTest {
    private static final Duration A_TRY = Duration.ofMillis(1_250);
    private static final Duration INSTANT = Duration.ofNanos(1);

    private final ManualClock clock = new ManualClock();
    private final Queue<Runnable> moves = new ConcurrentLinkedQueue<>();
    private boolean isOpen;
    private int renewals;
    private final BackendContext context = (BackendContext) Proxy.newProxyInstance(
            EtcdFailoverConnectionTest.class.getClassLoader(),
            new Class<?>[] {BackendContext.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> clock;
                case "connectTimeout", "requestTimeout" -> Duration.ofSeconds(5);
                case "blocking" -> isOpen ? (Executor) moves::add : (Executor) Runnable::run;
                case "renewNow" -> {
                    renewals++;
                    yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final EtcdFailoverConnection connection = new EtcdFailoverConnection(
            new EtcdSettings(
                    List.of("127.0.0.1:1", "127.0.0.1:2"),
                    Optional.empty(),
                    "mortise/",
                    Duration.ofSeconds(15),
                    Optional.empty(),
                    Optional.empty(),
                    List.of()),
            context);

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
    private void late(EtcdMemberConnection member, boolean heard) {
        clock.advance(INSTANT);
        MonotonicTime sent = clock.now();
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
        EtcdMemberConnection first = connection.inUse();
        late(first, false);
        late(first, false); // it is being left already
        move();
        EtcdMemberConnection second = connection.inUse();
        assertThat(second.endpoints()).isNotEqualTo(first.endpoints());
        late(first, false); // that one was left long ago
        assertThat(moves).isEmpty();
        late(second, false);
        move();
        assertThat(connection.inUse().endpoints()).isEqualTo(first.endpoints());
    }

    private void leaderless(EtcdMemberConnection member, Duration later) {
        clock.advance(later);
        connection.leaderless(member);
    }

    /** As during an election: another one would not know more. After that it is cut off from the leader, in one direction at least. */
    @Test
    void S15_aMemberThatIsLateButHeardOfIsKeptForAnElection() {
        EtcdMemberConnection first = connection.inUse();
        late(first, true);
        late(first, true);
        assertThat(moves).isEmpty();
        late(first, true);
        move();
        assertThat(connection.inUse().endpoints()).isNotEqualTo(first.endpoints());
    }

    /** Moving would cost what is under way, and find a store as slow. */
    @Test
    void S15_aMemberThatServesLateIsKept() {
        EtcdMemberConnection first = connection.inUse();
        for (int i = 0; i < 10; i++) {
            late(first, true);
            connection.answered(first, clock.now().minus(A_TRY));
        }
        assertThat(moves).isEmpty();
        assertThat(connection.inUse()).isSameAs(first);
    }

    @Test
    void S07_aMemberThatKnowsNoLeaderForATryIsLeftAndTheSessionRenewedAtOnce() {
        EtcdMemberConnection first = connection.inUse();
        leaderless(first, INSTANT);
        leaderless(first, A_TRY.minus(INSTANT));
        assertThat(moves).isEmpty();
        leaderless(first, INSTANT);
        assertThat(renewals).isZero();
        move();
        assertThat(connection.inUse().endpoints()).isNotEqualTo(first.endpoints());
        assertThat(renewals).isEqualTo(1);
    }

    @Test
    void S15_aMemberThatServesBetweenElectionsIsKept() {
        EtcdMemberConnection first = connection.inUse();
        for (int i = 0; i < 10; i++) {
            leaderless(first, A_TRY.dividedBy(2));
            leaderless(first, A_TRY.dividedBy(4));
            connection.answered(first, clock.now());
        }
        assertThat(moves).isEmpty();
    }

    /** Nobody has a leader: each further move would cost a client, and find the same. */
    @Test
    void S15_whileNoMemberKnowsALeaderTheyTakeTurnsOncePerRequestTimeout() {
        leaderless(connection.inUse(), INSTANT);
        leaderless(connection.inUse(), A_TRY);
        move();
        leaderless(connection.inUse(), INSTANT);
        leaderless(connection.inUse(), Duration.ofSeconds(5).minus(INSTANT));
        assertThat(moves).isEmpty();
        leaderless(connection.inUse(), INSTANT);
        move();
    }

    @Test
    void S11_aMemberWhoseWatchStreamIsSilentIsLeftThoughNothingIsAsked() {
        EtcdMemberConnection first = connection.inUse();
        first.silent();
        move();
        assertThat(connection.inUse().endpoints()).isNotEqualTo(first.endpoints());
    }
}
