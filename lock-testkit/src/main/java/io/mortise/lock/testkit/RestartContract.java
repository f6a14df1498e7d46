// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that clients recover from a restart of the server, which keeps its data.
 *
 * <p>Needs {@link Faults#stopServer} and {@link Faults#startServer}.
 */
interface RestartContract extends Contract {
    /** Some waits here must outlast the outage; another test checks when an unbounded wait fails. */
    ClientOptions LONG_TIMEOUTS =
            ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1)).unavailableAfter(ContractTestFixture.LONG);

    /** One scenario for S03, S05, S07, S09, S11 and S15, since a restart is slow. */
    @ParameterizedTest
    @EnumSource
    @ResourceLock(Contract.SERVER)
    default void S03_tokensIncreaseAcrossARestartAndWaitersContinue(ApiStyle style) throws Exception {
        LockClient one = fixture().client(LONG_TIMEOUTS);
        LockClient two = fixture().client(LONG_TIMEOUTS);
        Lease held = style.acquire(one.named("x"));
        // More grants than follow the restart, so that tokens of a counter that was reset would be lower.
        for (int i = 0; i < 10; i++) {
            style.release(style.acquire(two.named("y")));
        }
        Lease elsewhere = style.acquire(two.named("y"));
        style.release(elsewhere);
        Future<Lease> waiting = fixture().start(() -> style.acquire(two.named("x")));
        ContractTestFixture.awaitWaiters(two, "x", 1);
        fixture().faultInjector().stopServer("S03, S05, S07, S09, S11, S15 over a restart");
        assertEndsAtItsBound(style, two, Duration.ZERO);
        assertEndsAtItsBound(style, two, Duration.ofMillis(300));
        assertThat(waiting.isDone()).isFalse();
        fixture().faultInjector().startServer("S03, S05, S07, S09, S11, S15 over a restart");
        style.release(style.tryAcquire(one.named("z"), ContractTestFixture.LONG).orElseThrow());
        assertThat(waiting.isDone() && held.isHeld())
                .as("S02: two leases are held")
                .isFalse();
        ContractTestFixture.assertConsistent(style.release(held), held);
        Lease next = ApiStyle.result(waiting);
        assertThat(next.isHeld()).isTrue();
        Lease after = style.tryAcquire(one.named("y"), ContractTestFixture.LONG).orElseThrow();
        ContractTestFixture.assertTokensIncrease(one, held, next);
        ContractTestFixture.assertTokensIncrease(one, elsewhere, after);
        assertThat(style.release(after))
                .isNotEqualTo(ReleaseOutcome.LOST); // UNKNOWN if the server is still slow after its start
        assertThat(style.release(next)).isNotEqualTo(ReleaseOutcome.LOST);
        fixture().assertFree(fixture().client(), "x");
    }

    private static void assertEndsAtItsBound(ApiStyle style, LockClient client, Duration maxWait) {
        Duration bound = maxWait.isZero() ? LONG_TIMEOUTS.requestTimeout() : maxWait;
        long start = System.nanoTime();
        assertThatThrownBy(() -> style.tryAcquire(client.named("free"), maxWait))
                .as("S15: a stopped server must not be reported as a busy lock")
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("free")
                .hasMessageMatching("(?s).*\\b\\d+ ms\\b.*"); // the time since the server's last response
        assertThat(DurationAssertions.since(start))
                .as("S09: a wait of " + maxWait)
                .isLessThan(bound.plus(ContractTestFixture.PROMPT));
    }

    @Test
    @ResourceLock(Contract.SERVER)
    default void S16_closeWhileTheServerIsDownIsBounded() throws Exception {
        LockClient closing = fixture().client(LONG_TIMEOUTS);
        Lease held = closing.named("x", fixture().shortLease(closing)).acquire();
        fixture().faultInjector().stopServer("S15, S16 while the server is down");
        CompletableFuture<Lease> waiting = closing.named("y").acquireAsync();
        long opening = System.nanoTime();
        Duration connectTimeout = Duration.ofMillis(300);
        assertThatThrownBy(() -> fixture().client(LONG_TIMEOUTS.connectTimeout(connectTimeout)))
                .as("S15: opening a client while the server is stopped")
                .isInstanceOf(BackendUnavailableException.class);
        assertThat(DurationAssertions.since(opening))
                .as("connect")
                .isLessThan(connectTimeout.plus(ContractTestFixture.PROMPT));
        long start = System.nanoTime();
        closing.close();
        assertThat(DurationAssertions.since(start))
                .as("close")
                .isLessThan(LONG_TIMEOUTS.requestTimeout().multipliedBy(2).plus(ContractTestFixture.PROMPT));
        assertThat(held.isHeld()).isFalse();
        assertThatThrownBy(() -> ApiStyle.result(waiting)).isInstanceOf(ClientClosedException.class);
    }

    /** A server that is about to start looks the same as one that is down. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S15_connectWaitsForAServerThatStarts() throws Exception {
        String rule = "S15 for a server that starts later";
        fixture().faultInjector().stopServer(rule);
        Duration connectTimeout = ContractTestFixture.LONG.multipliedBy(2); // longer than this test waits for it
        Future<LockClient> opening =
                fixture().start(() -> fixture().client(LONG_TIMEOUTS.connectTimeout(connectTimeout)));
        // Twice: a machine that stands still before the thread runs uses up one of the waits.
        for (int wait = 0; wait < 2; wait++) {
            ContractTestFixture.throughout("connect waits", LONG_TIMEOUTS.requestTimeout(), () -> {
                if (opening.isDone()) {
                    throw new AssertionError(
                            "S15: connect did not wait for the server",
                            ContractTestFixture.thrownBy(() -> ApiStyle.result(opening)));
                }
            });
        }
        fixture().faultInjector().startServer(rule);
        LockClient opened = ApiStyle.result(opening);
        assertThat(opened.named("x").tryAcquire(ContractTestFixture.LONG)).hasValueSatisfying(Lease::close);
    }

    /** Connects by URL, since the URL contains the endpoints. */
    @Test
    @ResourceLock(Contract.SERVER)
    default void S15_anOutageNamesItsEndpoints() throws Exception {
        String rule = "S15 endpoints in messages";
        String endpoints = authority(fixture().url(rule));
        LockClient client = fixture().clientByUrl(rule, LONG_TIMEOUTS);
        fixture().faultInjector().stopServer(rule);
        for (Duration maxWait : List.of(Duration.ZERO, Duration.ofMillis(100))) {
            assertThatThrownBy(() -> client.named("x").tryAcquire(maxWait))
                    .satisfies(failure -> assertNames(failure, endpoints));
        }
        assertThatThrownBy(() -> fixture().clientByUrl(rule, LONG_TIMEOUTS.connectTimeout(Duration.ofMillis(300))))
                .satisfies(failure -> assertNames(failure, endpoints));
    }

    private static void assertNames(Throwable failure, String endpoints) {
        assertThat(failure)
                .hasMessageContaining(endpoints)
                .isInstanceOfSatisfying(
                        BackendUnavailableException.class,
                        outage -> assertThat(outage.endpoints())
                                .hasValueSatisfying(named -> assertThat(named).contains(endpoints)));
    }

    /** Returns hosts and ports of the URL, without credentials. */
    private static String authority(String url) {
        return url.replaceFirst("^[^:]+:(//)?", "").replaceFirst("[/?].*$", "").replaceFirst("^.*@", "");
    }
}
