// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.aggregator.AggregatingMessageHandler;
import org.springframework.integration.aggregator.DefaultAggregatingMessageGroupProcessor;
import org.springframework.integration.channel.QueueChannel;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.handler.AbstractReplyProducingMessageHandler;
import org.springframework.integration.handler.advice.LockRequestHandlerAdvice;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.store.SimpleMessageStore;
import org.springframework.integration.support.MessageBuilder;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHandlingException;

/** Tests the components of Spring Integration that use a registry: leader election, aggregator, message store and advice. */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the calls
class SpringIntegrationTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    @Configuration(proxyBeanMethods = false)
    @EnableIntegration
    static class Flows {}

    private final AnnotationConfigApplicationContext flows = new AnnotationConfigApplicationContext(Flows.class);
    private final LockClient client = Locks.connect("memory:" + UUID.randomUUID());
    private final MortiseLockRegistry registry = new MortiseLockRegistry(client);
    private final List<LockRegistryLeaderInitiator> initiators = new ArrayList<>();

    @AfterEach
    void close() {
        initiators.forEach(LockRegistryLeaderInitiator::stop);
        flows.close();
        client.close();
    }

    private static final class Member extends DefaultCandidate {
        final AtomicInteger granted = new AtomicInteger();
        final AtomicInteger revoked = new AtomicInteger();

        Member(String id) {
            super(id, "master");
        }

        @Override
        public void onGranted(Context context) {
            granted.incrementAndGet();
        }

        @Override
        public void onRevoked(Context context) {
            revoked.incrementAndGet();
        }
    }

    private LockRegistryLeaderInitiator start(MortiseLockRegistry locks, Member member) {
        LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(locks, member);
        initiator.setHeartBeatMillis(50);
        initiator.setBusyWaitMillis(50);
        initiator.setApplicationEventPublisher(event -> {});
        initiators.add(initiator);
        initiator.start();
        return initiator;
    }

    private static void awaitLeader(LockRegistryLeaderInitiator initiator, boolean leads) {
        Await.until("leader: " + leads, SOON, () -> initiator.getContext().isLeader() == leads);
    }

    private static void removeHolder(LockClient client, String name) {
        client.named(name)
                .status()
                .join()
                .holders()
                .forEach(holder ->
                        client.admin().orElseThrow().forceRelease(name, holder).join());
    }

    @Test
    void S07_aLossRevokesTheLeadership() throws Exception {
        Member member = new Member("one");
        LockRegistryLeaderInitiator initiator = start(registry, member);
        awaitLeader(initiator, true);
        Lease other = takeOver();
        awaitLeader(initiator, false);
        assertThat(member.granted).hasValue(1);
        Await.until("the candidate is told", SOON, () -> member.revoked.get() == 1);
        other.release();
        awaitLeader(initiator, true);
        Await.until("the candidate is told", SOON, () -> member.granted.get() == 2);
    }

    /** Takes the lock from the leader before it can compete for it again. */
    private Lease takeOver() throws Exception {
        CompletableFuture<Lease> next = client.named("integration/master").acquireAsync();
        Await.until(
                "the other owner waits",
                SOON,
                () -> !client.named("integration/master")
                        .status()
                        .join()
                        .waiters()
                        .isEmpty());
        removeHolder(client, "integration/master");
        return next.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    @Test
    void S16_aClosedClientRevokesTheLeadership() {
        Member member = new Member("one");
        LockRegistryLeaderInitiator initiator = start(registry, member);
        awaitLeader(initiator, true);
        client.close();
        awaitLeader(initiator, false);
        assertThat(member.granted).hasValue(1);
    }

    @Test
    void leadersFollowEachOther() {
        Member[] members = {new Member("one"), new Member("two")};
        LockRegistryLeaderInitiator one = start(registry, members[0]);
        awaitLeader(one, true);
        LockRegistryLeaderInitiator two = start(new MortiseLockRegistry(client), members[1]);
        Await.until("the other leads", SOON, () -> {
            if (one.getContext().isLeader()) {
                one.getContext().yield();
            }
            return two.getContext().isLeader();
        });
        // after the unlock
        Await.until("the candidate is told", SOON, () -> members[0].revoked.get() > 0);
        two.stop();
        Await.until("the candidate is told", SOON, () -> members[1].revoked.get() == 1);
        awaitLeader(one, true);
        one.stop();
        awaitLeader(one, false);
        Await.until(
                "the lock is free",
                SOON,
                () -> client.named("integration/master")
                        .status()
                        .join()
                        .holders()
                        .isEmpty());
    }

    @Test
    void S15_anOutageRevokesTheLeadershipAndIsNotABusyLock() throws Exception {
        ClientOptions options = ClientOptions.defaults().requestTimeout(Duration.ofSeconds(1));
        try (RedisTestServer server = RedisTestServer.start();
                LockClient redis = Locks.connect(server.url(), options)) {
            MortiseLockRegistry locks = new MortiseLockRegistry(
                    redis,
                    LockOptions.defaults().leaseDuration(Duration.ofSeconds(4)),
                    MortiseLockRegistry.namesWithPrefix(""));
            LockRegistryLeaderInitiator initiator = start(locks, new Member("one"));
            awaitLeader(initiator, true);
            server.pause();
            awaitLeader(initiator, false);
            DistributedLock lock = locks.obtain("another");
            assertThatThrownBy(lock::tryLock).isInstanceOf(BackendUnavailableException.class);
            assertThatThrownBy(() -> lock.tryLock(100, TimeUnit.MILLISECONDS))
                    .isInstanceOf(BackendUnavailableException.class);
            assertThat(locks.holds().ofThread()).isEmpty();
            server.resume();
            awaitLeader(initiator, true);
            initiator.stop();
        }
    }

    private static Message<String> part(int number) {
        return MessageBuilder.withPayload("part " + number)
                .setCorrelationId("order")
                .setSequenceNumber(number)
                .setSequenceSize(2)
                .build();
    }

    private AggregatingMessageHandler aggregator(
            MortiseLockRegistry locks, SimpleMessageStore store, QueueChannel out) {
        AggregatingMessageHandler handler =
                new AggregatingMessageHandler(new DefaultAggregatingMessageGroupProcessor(), store);
        handler.setLockRegistry(locks);
        handler.setOutputChannel(out);
        handler.setBeanFactory(flows);
        handler.afterPropertiesSet();
        return handler;
    }

    /** Two instances of a flow, whose groups are in one store. Each would wait here for the other. */
    @Test
    void S01_onlyOneAggregatorIsInAGroup() throws Exception {
        SimpleMessageStore store = new SimpleMessageStore();
        QueueChannel out = new QueueChannel();
        CyclicBarrier meeting = new CyclicBarrier(2);
        List<Boolean> met = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        for (int number = 1; number <= 2; number++) {
            AggregatingMessageHandler handler = aggregator(new MortiseLockRegistry(client), store, out);
            handler.setReleaseStrategy(group -> {
                met.add(meets(meeting));
                return group.size() == 2;
            });
            Message<String> part = part(number);
            parts.add(CompletableFuture.runAsync(() -> handler.handleMessage(part)));
        }
        for (CompletableFuture<Void> part : parts) {
            part.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(met).containsExactly(false, false);
        assertThat(out.getQueueSize()).isEqualTo(1);
    }

    /** Returns whether both threads are here at the same time. */
    private static boolean meets(CyclicBarrier meeting) {
        try {
            meeting.await(500, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | BrokenBarrierException e) {
            meeting.reset();
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anAggregatorWaitsForTheLockOfAGroup() throws Exception {
        List<String> keys = new ArrayList<>();
        MortiseLockRegistry named = new MortiseLockRegistry(client, LockOptions.defaults(), key -> {
            keys.add(key.toString());
            return "group";
        });
        AggregatingMessageHandler handler = aggregator(named, new SimpleMessageStore(), new QueueChannel());
        Lease lease = client.named("group").acquire();
        CompletableFuture<Void> handled = CompletableFuture.runAsync(() -> handler.handleMessage(part(1)));
        Await.until(
                "the aggregator waits",
                SOON,
                () -> !client.named("group").status().join().waiters().isEmpty());
        assertThat(handled).isNotDone();
        lease.release();
        handled.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(keys).hasSize(1);
        assertThat(client.named("group").status().join().holders()).isEmpty();
    }

    @Test
    void S07_aLossFailsTheMessageOfAnAggregator() {
        MortiseLockRegistry named = new MortiseLockRegistry(client, LockOptions.defaults(), key -> "group");
        AggregatingMessageHandler handler = aggregator(named, new SimpleMessageStore(), new QueueChannel());
        handler.setReleaseStrategy(group -> {
            removeHolder(client, "group");
            return false;
        });
        assertThatThrownBy(() -> handler.handleMessage(part(1))).hasRootCauseInstanceOf(LeaseLostException.class);
        assertThat(named.holds().ofThread()).isEmpty();
    }

    /** Its keys are the ids of groups, of any type. */
    @Test
    void aMessageStoreLocksGroupsByTheirIds() throws Exception {
        SimpleMessageStore store = new SimpleMessageStore(0, 0, registry);
        UUID group = UUID.randomUUID();
        CompletableFuture.runAsync(() -> store.addMessagesToGroup(group, part(1)))
                .get(SOON.toSeconds(), TimeUnit.SECONDS);
        store.addMessagesToGroup(7, part(2));
        assertThat(store.messageGroupSize(group)).isEqualTo(1);
        assertThat(store.messageGroupSize(7)).isEqualTo(1);
        assertThat(registry.holds().ofThread()).isEmpty();
    }

    /** A handler whose work is given by the test. */
    private final class Work extends AbstractReplyProducingMessageHandler {
        private final Runnable body;

        Work(LockRequestHandlerAdvice advice, Runnable body) {
            this.body = body;
            setAdviceChain(List.of(advice));
            setBeanFactory(flows);
            advice.setBeanFactory(flows);
            advice.afterPropertiesSet();
            afterPropertiesSet();
        }

        @Override
        protected @Nullable Object handleRequestMessage(Message<?> requestMessage) {
            body.run();
            return null;
        }
    }

    private LockRequestHandlerAdvice advice() {
        return new LockRequestHandlerAdvice(registry, "order");
    }

    @Test
    void anAdviceLocksTheHandlerAndItsTimeoutIsNoFailureOfTheStore() throws Exception {
        LockRequestHandlerAdvice advice = advice();
        advice.setWaitLockDuration(Duration.ofMillis(10));
        CompletableFuture<Boolean> held = new CompletableFuture<>();
        new Work(advice, () -> held.complete(registry.lease("order").isHeld())).handleMessage(part(1));
        assertThat(held).isCompletedWithValue(true);
        Lease other = client.named("integration/order").acquire();
        assertThatThrownBy(() -> new Work(advice, () -> {}).handleMessage(part(1)))
                .isInstanceOf(MessageHandlingException.class)
                .hasCauseInstanceOf(TimeoutException.class)
                .hasStackTraceContaining("integration/order");
        other.release();
    }

    @Test
    void S07_aLossFailsTheMessageAndDoesNotHideTheFailureOfTheHandler() {
        Work loses = new Work(advice(), () -> removeHolder(client, "integration/order"));
        assertThatThrownBy(() -> loses.handleMessage(part(1))).hasRootCauseInstanceOf(LeaseLostException.class);
        IllegalArgumentException failure = new IllegalArgumentException("bad part");
        Work fails = new Work(advice(), () -> {
            removeHolder(client, "integration/order");
            throw failure;
        });
        assertThatThrownBy(() -> fails.handleMessage(part(1))).hasRootCause(failure);
        assertThat(registry.holds().ofThread()).isEmpty();
    }

    /** Runs a task under the lock. */
    private interface Execution {
        void of(Runnable task) throws Exception;
    }

    @Test
    void S07_aLossIsSuppressedByTheFailureOfATask() {
        List<Execution> executions = List.of(
                task -> registry.executeLocked("order", task::run),
                task -> registry.executeLocked("order", SOON, task::run),
                task -> registry.executeLocked("order", () -> {
                    task.run();
                    return true;
                }),
                task -> registry.executeLocked("order", SOON, () -> {
                    task.run();
                    return true;
                }));
        for (Execution execution : executions) {
            IllegalArgumentException failure = new IllegalArgumentException("bad part");
            assertThatThrownBy(() -> execution.of(() -> {
                        removeHolder(client, "integration/order");
                        throw failure;
                    }))
                    .isSameAs(failure);
            assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(() -> execution.of(() -> removeHolder(client, "integration/order")))
                    .isInstanceOf(LeaseLostException.class);
            assertThat(registry.holds().ofThread()).isEmpty();
        }
    }

    @Test
    void executeLockedRunsTheTaskUnderTheLock() throws Exception {
        Duration wait = Duration.ofSeconds(Long.MAX_VALUE); // no overflow
        List<Boolean> held = new ArrayList<>();
        registry.executeLocked("order", () -> {
            held.add(registry.lease("order").isHeld());
        });
        registry.executeLocked("order", wait, () -> {
            held.add(registry.lease("order").isHeld());
        });
        boolean first =
                registry.executeLocked("order", () -> registry.lease("order").isHeld());
        boolean second = registry.executeLocked(
                "order", wait, () -> registry.lease("order").isHeld());
        assertThat(held).containsExactly(true, true);
        assertThat(List.of(first, second)).containsExactly(true, true);
        assertThat(registry.holds().ofThread()).isEmpty();
        CountDownLatch ran = new CountDownLatch(1);
        try (Lease other = client.named("integration/order").acquire()) {
            assertThatThrownBy(() -> registry.executeLocked("order", Duration.ofMillis(10), ran::countDown))
                    .isInstanceOf(TimeoutException.class)
                    .hasMessageContainingAll("integration/order", "PT0.01S");
            assertThat(other.isHeld()).isTrue();
        }
        assertThat(ran.getCount()).isEqualTo(1);
    }

    enum Region {
        NORTH
    }

    @Test
    void S13_S14_keysAreCheckedWhenTheLockIsObtained() {
        UUID id = UUID.randomUUID();
        for (Object key : new Object[] {"text", 17, 17L, id, Region.NORTH}) {
            assertThat(registry.obtain(key)).hasToString("lock \"integration/" + key + "\"");
        }
        assertThatThrownBy(() -> registry.obtain(List.of("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("List", "String, Number, Enum or UUID");
        assertThatThrownBy(() -> registry.obtain("x".repeat(600)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("512");
        MortiseLockRegistry bare =
                new MortiseLockRegistry(client, LockOptions.defaults(), MortiseLockRegistry.namesWithPrefix(""));
        assertThatThrownBy(() -> bare.obtain("")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void S19_aKeyCannotForgeTheMessageAroundIt() {
        assertThat(registry.obtain("a\" is free\nb")).hasToString("lock \"integration/a\\\" is free\\nb\"");
    }

    @Test
    void S14_badDurationsAreRefused() {
        DistributedLock lock = registry.obtain("order");
        for (Duration bad : List.of(Duration.ZERO, Duration.ofSeconds(-1), Duration.ofDays(40_000))) {
            assertThatThrownBy(() -> lock.lock(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(bad.toString());
            assertThatThrownBy(() -> lock.tryLock(Duration.ZERO, bad)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> registry.renewLock("order", bad)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThat(client.named("integration/order").status().join().holders()).isEmpty();
    }

    @Test
    void theMaximumHoldOfTheRegistryIsTheTimeToLiveOfItsLocks() {
        MortiseLockRegistry limited = new MortiseLockRegistry(
                client,
                LockOptions.defaults().maxHold(Duration.ofMillis(100)),
                MortiseLockRegistry.namesWithPrefix(""));
        DistributedLock lock = limited.obtain("order");
        lock.lock();
        assertThatThrownBy(() -> limited.renewLock("order")).isInstanceOf(RuntimeException.class);
        Await.until("the lease has ended", SOON, () -> !limited.lease("order").isHeld());
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void S17_nothingIsKeptForLocksThatAreNotHeld() {
        for (int i = 0; i < 10_000; i++) {
            DistributedLock lock = registry.obtain("order " + i);
            lock.lock();
            assertThat(registry.holds().ofThread()).hasSize(1);
            lock.unlock();
        }
        assertThat(registry.holds().ofThread()).isEmpty();
    }

    @Test
    void conditionsAreNotSupported() {
        DistributedLock lock = registry.obtain("order");
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }
}
