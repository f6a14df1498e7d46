// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests waits that are hardly longer than a round trip, or end before their acquire requests are sent. */
class EtcdShortWaitTest extends OneServerTest {
    private static final Duration ROUND_TRIP = Duration.ofSeconds(4);

    /** Longer than one round trip and a pause of the machine, shorter than two round trips. */
    private static final Duration WAIT = Duration.ofMillis(7_400);

    private TcpProxy link;
    private LockClient client;

    @BeforeEach
    void connect() throws Exception {
        link = TcpProxy.to("127.0.0.1", server.port());
        client = EtcdLocks.connect(
                EtcdOptions.connectTo(List.of(link.address()))
                        .namespace(namespace.name())
                        .interceptors(List.of(wire)),
                ClientOptions.defaults().requestTimeout(ROUND_TRIP.multipliedBy(4)));
        client.named("warm").acquire().close();
    }

    @AfterEach
    void close() {
        link.heal();
        link.delay(Duration.ZERO);
        client.close();
        link.close();
    }

    private List<CompletableFuture<Optional<Lease>>> startManyWaiters() {
        link.delay(ROUND_TRIP.dividedBy(2));
        List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            waiting.add(client.named("x").tryAcquireAsync(WAIT));
        }
        return waiting;
    }

    /**
     * The grant of the first tells the others that the lock is taken, even the next one, whose own reply arrives too late.
     */
    @Test
    void S09_S15_ofManyWaitersForAFreeLockOneGetsItAndTheOthersLearnThat() throws Exception {
        List<Lease> got = new ArrayList<>();
        for (CompletableFuture<Optional<Lease>> one : startManyWaiters()) {
            one.get(20, TimeUnit.SECONDS).ifPresent(got::add);
        }
        assertThat(got)
                .singleElement()
                .satisfies(lease -> assertThat(lease.isHeld()).isTrue());
        link.delay(Duration.ZERO);
        Await.until(
                "only the holder's key stays", SOON, () -> namespace.queue("x").size() == 1);
        got.get(0).close();
    }

    @Test
    void S09_S15_manyWaitersForATakenLockAllLearnThatItIsTaken() throws Exception {
        try (LockClient other = namespace.client();
                Lease held = other.named("x").acquire()) {
            for (CompletableFuture<Optional<Lease>> one : startManyWaiters()) {
                assertThat(one.get(20, TimeUnit.SECONDS)).isEmpty();
            }
            assertThat(held.isHeld()).isTrue();
        }
    }

    /** The grant is given back as soon as it arrives, so it blocks no other waiter. */
    @Test
    void S15_aGrantThatArrivesTooLateDoesNotMakeTheLockBusyForOthers() {
        link.delay(ROUND_TRIP.dividedBy(2));
        List<CompletableFuture<Optional<Lease>>> waiting = new ArrayList<>();
        waiting.add(client.named("x").tryAcquireAsync(ROUND_TRIP.dividedBy(4)));
        for (int i = 0; i < 3; i++) {
            waiting.add(
                    client.named("x").tryAcquireAsync(ROUND_TRIP.multipliedBy(3).dividedBy(2)));
        }
        for (CompletableFuture<Optional<Lease>> one : waiting) {
            assertThat(one)
                    .failsWithin(SOON)
                    .withThrowableThat()
                    .havingRootCause()
                    .isInstanceOf(BackendUnavailableException.class);
        }
    }

    /**
     * One put and one delete each for the request that was in flight and for the last one, which may find the first one's
     * key.
     */
    @Test
    void S10_aHundredWaitersThatGaveUpBeforeTheirTurnCostNoRequest() throws Exception {
        wire.reset();
        link.blackHole();
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 101; i++) {
            waiting.add(client.named("x").acquireAsync());
        }
        waiting.forEach(one -> one.cancel(true));
        CompletableFuture<Lease> last = client.named("x").acquireAsync();
        link.heal();
        last.get(60, TimeUnit.SECONDS).close();
        Await.until("no keys remain", SOON, () -> namespace.keys().isEmpty());
        assertThat(wire.counts().getOrDefault("Txn", 0) + wire.counts().getOrDefault("DeleteRange", 0))
                .isBetween(4, 6);
    }
}
