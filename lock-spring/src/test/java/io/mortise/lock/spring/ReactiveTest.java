// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** Tests methods that return Mono or Flux. */
class ReactiveTest {
    static class Streams {
        @Locked(name = "stream", maxWait = "0s")
        public Mono<String> mono(Mono<String> work) {
            return ReactiveCurrentLease.get().flatMap(lease -> {
                assertThat(lease.lockName()).isEqualTo("stream");
                return work;
            });
        }

        @Locked(name = "stream", maxWait = "0s")
        public Flux<String> flux(Flux<String> work) {
            return work;
        }

        @Locked(name = "stream", maxWait = "0s")
        public Mono<Long> token() {
            return ReactiveCurrentLease.get().map(Lease::fencingToken);
        }

        @Locked(name = "stream", busy = BusyPolicy.SKIP)
        public Mono<String> skipped() {
            return Mono.just("ran");
        }

        @Locked(name = "stream", maxWait = "1h")
        public Mono<String> waiting() {
            return Mono.just("ran");
        }

        @Locked(name = "stream", maxWait = "0s")
        public Mono<String> failing() {
            throw new IllegalArgumentException("no publisher");
        }
    }

    /** A client that grants at once, on the caller's thread, and runs an action with each acquire. */
    @Configuration(proxyBeanMethods = false)
    static class Watched {
        private volatile Runnable atAcquire = () -> {};

        @Bean(autowireCandidate = false, defaultCandidate = false)
        LockClient watched() {
            return MemoryLocks.connect(
                    MemoryStore.create(),
                    ClientOptions.defaults().callbackExecutor(Runnable::run).listener((backend, name) -> {
                        atAcquire.run();
                        return null;
                    }));
        }

        @Bean
        Inner inner() {
            return new Inner();
        }
    }

    static class Inner {
        @Locked(name = "watched", maxWait = "0s", client = "watched")
        public Mono<String> mono() {
            return Mono.just("ran");
        }
    }

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final LockContext context = LockContext.start(Streams.class, Watched.class);
    private final Streams streams = context.bean(Streams.class);

    @AfterEach
    void close() {
        context.close();
    }

    private void awaitFree() throws InterruptedException {
        context.other().named("stream").tryAcquire(LIMIT).orElseThrow().release();
    }

    @Test
    void S01_theLeaseIsHeldFromTheSubscriptionToTheCompletion() {
        Sinks.One<String> work = Sinks.one();
        Mono<String> mono = streams.mono(work.asMono());
        assertThat(context.isFree("stream")).as("before the subscription").isTrue();
        CompletableFuture<Boolean> locked = new CompletableFuture<>();
        CompletableFuture<String> result = mono.toFuture();
        streams.mono(Mono.just("x"))
                .retryWhen(Retry.indefinitely().filter(failure -> {
                    locked.complete(failure instanceof LockBusyException);
                    return false;
                }))
                .subscribe(value -> {}, failure -> {});
        assertThat(locked.join()).isTrue();
        work.tryEmitValue("done").orThrow();
        assertThat(result.join()).isEqualTo("done");
        assertThat(context.isFree("stream")).isTrue();
    }

    @Test
    void S03_eachSubscriptionHasALeaseOfItsOwn() {
        Mono<Long> token = streams.token();
        long first = token.blockOptional(LIMIT).orElseThrow();
        assertThat(token.blockOptional(LIMIT).orElseThrow()).isGreaterThan(first);
    }

    @Test
    void S07_aLossFailsTheMonoInsteadOfItsValue() {
        List<String> values = new ArrayList<>();
        Mono<String> mono = streams.mono(Mono.fromSupplier(() -> {
                    context.lose("stream");
                    return "done";
                }))
                .doOnNext(values::add);
        assertThatThrownBy(() -> mono.block(LIMIT)).isInstanceOf(LeaseLostException.class);
        assertThat(values).isEmpty();
    }

    @Test
    void S07_aLossFailsTheFlux() {
        Flux<String> flux = streams.flux(Flux.just("a", "b").doOnComplete(() -> context.lose("stream")));
        assertThatThrownBy(() -> flux.collectList().block(LIMIT)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aFailureReleasesTheLockAndHasTheLossSuppressed() {
        Mono<String> mono = streams.mono(Mono.fromSupplier(() -> {
            context.lose("stream");
            throw new IllegalArgumentException("the work failed");
        }));
        assertThatThrownBy(() -> mono.block(LIMIT))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(
                        failure -> assertThat(failure.getSuppressed()).anyMatch(LeaseLostException.class::isInstance));
        assertThatThrownBy(() -> streams.failing().block(LIMIT)).isInstanceOf(IllegalArgumentException.class);
        assertThat(context.isFree("stream")).isTrue();
    }

    @Test
    void S01_aCancelledFluxReleasesTheLock() throws Exception {
        assertThat(streams.flux(Flux.<String>never().startWith("first")).blockFirst(LIMIT))
                .isEqualTo("first");
        awaitFree();
    }

    @Test
    void S10_aCancelledWaitLeavesNothing() throws Exception {
        Lease held = context.acquireElsewhere("stream");
        Disposable waiting = streams.waiting().subscribe();
        waiting.dispose();
        held.release();
        awaitFree();
        assertThat(context.isFree("stream")).isTrue();
    }

    @Test
    void aBusyLockFailsOrSkips() {
        try (Lease held = context.acquireElsewhere("stream")) {
            assertThatThrownBy(() -> streams.token().block(LIMIT)).isInstanceOf(LockBusyException.class);
            assertThat(streams.skipped().blockOptional(LIMIT)).isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(streams.skipped().blockOptional(LIMIT)).contains("ran");
    }

    @Test
    void S04_aNestedSubscriptionFailsAtOnce() {
        assertThatThrownBy(() -> streams.mono(streams.waiting()).block(LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not reentrant");
        assertThat(context.isFree("stream")).isTrue();
    }

    @Test
    void outsideThereIsNoCurrentLease() {
        assertThatThrownBy(() -> ReactiveCurrentLease.get().block(LIMIT)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void S10_aCancellationDuringTheCallOfTheAcquireLeavesNoLease() throws Exception {
        CompletableFuture<String> end = new CompletableFuture<>();
        BaseSubscriber<String> subscriber = new BaseSubscriber<>() {
            @Override
            protected void hookOnNext(String value) {
                end.complete(value);
            }

            @Override
            protected void hookFinally(SignalType signal) {
                end.complete(signal.toString());
            }
        };
        context.bean(Watched.class).atAcquire = subscriber::cancel;
        context.bean(Inner.class).mono().subscribe(subscriber);
        assertThat(end.join()).isEqualTo(SignalType.CANCEL.toString());
        context.bean(Watched.class).atAcquire = () -> {};
        LockClient client = context.context().getBean("watched", LockClient.class);
        assertThat(client.named("watched").tryAcquire(LIMIT)).isPresent(); // the withdrawal is asynchronous
    }
}
