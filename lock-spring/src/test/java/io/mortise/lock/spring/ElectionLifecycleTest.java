// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermBody;
import io.mortise.lock.recipe.TermEnd;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.support.DefaultLifecycleProcessor;

/** Tests the lifecycle of an election in real contexts, on locks in memory. */
class ElectionLifecycleTest {
    /** The phases of Spring Boot's web server: its start and stop, and its graceful shutdown. */
    private static final int WEB_SERVER = SmartLifecycle.DEFAULT_PHASE - 2048;

    private final String url = "memory:" + UUID.randomUUID();
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private final CountDownLatch release = new CountDownLatch(1);
    private final List<AnnotationConfigApplicationContext> contexts = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        release.countDown();
        contexts.forEach(AnnotationConfigApplicationContext::close);
    }

    /** Returns a context, not started yet, with a client, an election and a listener for the events of terms. */
    private AnnotationConfigApplicationContext context(TermBody body) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        contexts.add(context);
        context.registerBean(LockClient.class, () -> Locks.connect(url));
        context.registerBean(
                ElectionLifecycle.class,
                () -> new ElectionLifecycle(
                        Election.on(context.getBean(LockClient.class).named("x"))
                                .pauseAfterTerm(Duration.ofMillis(5))
                                .stopTimeout(Duration.ofMillis(50)),
                        body));
        context.addApplicationListener(event -> {
            if (event instanceof PayloadApplicationEvent<?> payload) {
                events.add(payload.getPayload());
            }
        });
        return context;
    }

    private static ElectionLifecycle election(AnnotationConfigApplicationContext context) {
        return context.getBean(ElectionLifecycle.class);
    }

    private static TermBody untilStopped() {
        return term -> new CountDownLatch(1).await();
    }

    private TermBody untilReleased() {
        return term -> {
            while (release.getCount() > 0) {
                Thread.onSpinWait(); // ignores its stop
            }
        };
    }

    private Object next() throws InterruptedException {
        @Nullable Object event = events.poll(30, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    private Term started() throws InterruptedException {
        Object event = next();
        assertThat(event).isInstanceOf(TermStartedEvent.class);
        return ((TermStartedEvent) event).term();
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void whenTheContextOfTheLeaderClosesTheOtherOneLeads() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        TermBody body = term -> {
            assertThat(bodies.incrementAndGet()).as("bodies at a time").isEqualTo(1);
            try {
                untilStopped().lead(term);
            } finally {
                bodies.decrementAndGet();
            }
        };
        AnnotationConfigApplicationContext one = context(body);
        one.refresh();
        Term first = started();
        AnnotationConfigApplicationContext two = context(body);
        two.refresh();
        assertThat(election(two).isRunning()).isTrue();
        assertThat(election(two).election().orElseThrow().isLeading()).isFalse();
        one.close();
        assertThat(next())
                .as("the client was closed after the term")
                .isEqualTo(new TermEndedEvent(first, TermEnd.CLOSED));
        Term second = started();
        assertThat(second.epoch()).as("S03").isGreaterThan(first.epoch());
        assertThat(second.isOver()).isFalse();
    }

    /** A bean that notes its start and stop. */
    private record Server(int getPhase, AtomicBoolean running, BooleanSupplier leads, List<Boolean> seen)
            implements SmartLifecycle {
        Server(int phase, BooleanSupplier leads) {
            this(phase, new AtomicBoolean(), leads, new CopyOnWriteArrayList<>());
        }

        @Override
        public void start() {
            running.set(true);
            seen.add(leads.getAsBoolean());
        }

        @Override
        public void stop() {
            running.set(false);
            seen.add(leads.getAsBoolean());
        }

        @Override
        public boolean isRunning() {
            return running.get();
        }
    }

    @Test
    void theCampaignStartsAfterAWebServerAndStopsBeforeIt() throws Exception {
        BlockingQueue<Server> web = new LinkedBlockingQueue<>();
        BlockingQueue<Boolean> served = new LinkedBlockingQueue<>();
        AnnotationConfigApplicationContext context = context(term -> {
            Server server = web.take();
            served.add(server.isRunning());
            try {
                untilStopped().lead(term);
            } finally {
                served.add(server.isRunning());
            }
        });
        context.registerBean(
                Server.class,
                () -> new Server(WEB_SERVER, () -> election(context).isRunning()));
        context.refresh();
        Server server = context.getBean(Server.class);
        web.add(server);
        started();
        assertThat(served.take()).as("at the start of the body").isTrue();
        context.close();
        assertThat(served.take()).as("at the end of the body").isTrue();
        assertThat(server.seen())
                .as("a campaign when the server starts and stops")
                .containsExactly(false, false);
    }

    @Test
    void aStopBlocksNoOtherBeanOfItsPhaseAndEndsWithTheBody() throws Exception {
        AnnotationConfigApplicationContext context = context(untilReleased());
        CountDownLatch otherStopped = new CountDownLatch(1);
        context.registerBean(
                "other",
                Server.class,
                () -> new Server(SmartLifecycle.DEFAULT_PHASE, () -> {
                    otherStopped.countDown(); // also at the start
                    return true;
                }));
        context.refresh();
        Term term = started();
        Server other = context.getBean(Server.class);
        Thread closing = new Thread(context::close);
        closing.start();
        await(() -> term.isOver() && !other.isRunning());
        assertThat(closing.isAlive()).as("the phase waits for the body").isTrue();
        assertThat(context.getBean(LockClient.class).named("x").tryAcquire())
                .as("the client is open, and the lock is held")
                .isEmpty();
        release.countDown();
        closing.join();
        assertThat(next()).isEqualTo(new TermEndedEvent(term, TermEnd.CLOSED));
        assertThat(otherStopped.getCount()).isZero();
    }

    @Test
    void theCallbackOfAStopRunsOnceTheLockIsReleased() throws Exception {
        AnnotationConfigApplicationContext context = context(untilReleased());
        context.refresh();
        started();
        BlockingQueue<Boolean> free = new LinkedBlockingQueue<>();
        LockClient locks = context.getBean(LockClient.class);
        election(context)
                .stop(() -> locks.named("x").tryAcquireAsync(Duration.ZERO).thenAccept(lease -> {
                    free.add(lease.isPresent());
                    lease.ifPresent(Lease::releaseAsync);
                }));
        assertThat(election(context).isRunning()).isFalse();
        assertThat(free).isEmpty();
        release.countDown();
        assertThat(free.poll(30, TimeUnit.SECONDS)).isTrue();
        election(context).stop(() -> free.add(true));
        assertThat(free).as("nothing to stop").hasSize(1);
    }

    @Test
    void aBodyThatIgnoresItsStopEndsThePhaseByTheShutdownTimeoutOfTheContext() throws Exception {
        AnnotationConfigApplicationContext context = context(untilReleased());
        DefaultLifecycleProcessor processor = new DefaultLifecycleProcessor();
        processor.setTimeoutPerShutdownPhase(20);
        processor.setBeanFactory(context.getBeanFactory());
        context.getBeanFactory().registerSingleton("lifecycleProcessor", processor);
        context.refresh();
        Term term = started();
        context.close();
        assertThat(term.isOver()).isTrue();
        release.countDown();
        try (LockClient other = Locks.connect(url);
                Lease lease = other.named("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(events).as("of a context that has closed").isEmpty();
    }

    @Test
    void aContextThatIsStartedAgainCampaignsAgain() throws Exception {
        AnnotationConfigApplicationContext context = context(untilStopped());
        context.refresh();
        Term first = started();
        context.stop();
        assertThat(next()).isEqualTo(new TermEndedEvent(first, TermEnd.CLOSED));
        assertThat(election(context).isRunning()).isFalse();
        assertThat(election(context).election()).isEmpty();
        context.start();
        context.start();
        Term second = started();
        assertThat(second.epoch()).isGreaterThan(first.epoch());
        election(context).stop();
        assertThat(next()).isEqualTo(new TermEndedEvent(second, TermEnd.CLOSED));
        assertThat(events).isEmpty();
    }

    @Test
    void aRestartWaitsForABodyThatIgnoresItsStop() throws Exception {
        AtomicInteger bodies = new AtomicInteger();
        AnnotationConfigApplicationContext context = context(term -> {
            assertThat(bodies.incrementAndGet()).isEqualTo(1);
            try {
                if (release.getCount() > 0) {
                    untilReleased().lead(term);
                } else {
                    untilStopped().lead(term);
                }
            } finally {
                bodies.decrementAndGet();
            }
        });
        context.refresh();
        Term first = started();
        ElectionLifecycle election = election(context);
        election.stop(); // returns after its stop timeout
        election.start();
        assertThat(election.isRunning()).isTrue();
        assertThat(election.election()).as("not yet").isEmpty();
        election.stop();
        election.start();
        election.start();
        assertThat(events).isEmpty();
        release.countDown();
        assertThat(next()).isEqualTo(new TermEndedEvent(first, TermEnd.CLOSED));
        Term second = started();
        election.stop();
        assertThat(next()).as("one campaign").isEqualTo(new TermEndedEvent(second, TermEnd.CLOSED));
        assertThat(events).isEmpty();
        assertThat(election.isRunning()).isFalse();
    }

    @Test
    void aStopCancelsAStartThatWaits() throws Exception {
        AnnotationConfigApplicationContext context = context(untilReleased());
        context.refresh();
        Term first = started();
        ElectionLifecycle election = election(context);
        election.stop();
        election.start();
        CountDownLatch stopped = new CountDownLatch(1);
        election.stop(stopped::countDown);
        assertThat(stopped.getCount()).as("the body still runs").isOne();
        release.countDown();
        stopped.await();
        assertThat(next()).isEqualTo(new TermEndedEvent(first, TermEnd.CLOSED));
        try (LockClient other = Locks.connect(url)) {
            assertThat(other.named("x").tryAcquire(Duration.ofSeconds(30)))
                    .hasValueSatisfying(lease -> assertThat(lease.isHeld()).isTrue());
        }
        assertThat(events).isEmpty();
    }

    @Test
    void withoutAutoStartupTheApplicationStartsTheCampaign() throws Exception {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        contexts.add(context);
        BlockingQueue<Term> terms = new LinkedBlockingQueue<>();
        context.registerBean(LockClient.class, () -> Locks.connect(url));
        context.registerBean(ElectionLifecycle.class, () -> {
            ElectionLifecycle election = new ElectionLifecycle(
                    Election.on(context.getBean(LockClient.class).named("x")), term -> {
                        terms.add(term);
                        untilStopped().lead(term);
                    });
            election.setAutoStartup(false);
            election.setPhase(7);
            return election;
        });
        context.refresh();
        assertThat(election(context).isRunning()).isFalse();
        assertThat(election(context).getPhase()).isEqualTo(7);
        election(context).start();
        assertThat(terms.take().isOver()).isFalse();
    }

    @Test
    void S16_afterItsClientIsClosedTheBeanIsNotRunning() throws Exception {
        AnnotationConfigApplicationContext context = context(untilStopped());
        context.refresh();
        Term term = started();
        context.getBean(LockClient.class).close();
        assertThat(next()).isEqualTo(new TermEndedEvent(term, TermEnd.LOST));
        await(() -> !election(context).isRunning());
        election(context).start(); // does no harm
        await(() -> !election(context).isRunning());
    }

    /** The lifecycle stops nothing then, but the beans are destroyed. */
    @Test
    void aContextWhoseStartFailsLeavesNoCandidate() throws Exception {
        AnnotationConfigApplicationContext context = context(untilStopped());
        CountDownLatch leads = new CountDownLatch(1);
        context.addApplicationListener(event -> leads.countDown());
        context.registerBean(
                "broken",
                Server.class,
                () -> new Server(SmartLifecycle.DEFAULT_PHASE, () -> {
                    election(context).start(); // if it does not come first anyway
                    try {
                        leads.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    throw new IllegalStateException("no port");
                }));
        assertThatThrownBy(context::refresh)
                .isInstanceOf(ApplicationContextException.class)
                .hasRootCauseMessage("no port");
        Term term = started();
        assertThat(term.isOver()).isTrue();
        assertThat(next()).isEqualTo(new TermEndedEvent(term, TermEnd.CLOSED));
    }
}
