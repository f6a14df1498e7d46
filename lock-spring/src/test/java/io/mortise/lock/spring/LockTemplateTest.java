// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LeaseLostException;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

class LockTemplateTest {
    private final LockContext context = LockContext.start();
    private final LockTemplate locks = context.bean(LockTemplate.class).maxWait(Duration.ZERO);

    @AfterEach
    void close() {
        context.close();
    }

    @Test
    void S01_theBodyRunsUnderTheLock() {
        long token = locks.call("job", lease -> {
            assertThat(context.isFree("job")).isFalse();
            assertThat(CurrentLease.get()).isSameAs(lease);
            return lease.fencingToken();
        });
        assertThat(token).isPositive();
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void aBusyLockFailsOrIsReported() {
        try (Lease held = context.acquireElsewhere("job")) {
            assertThatThrownBy(() -> locks.run("job", lease -> {})).isInstanceOf(LockBusyException.class);
            assertThatThrownBy(() -> locks.call("job", lease -> 1)).isInstanceOf(LockBusyException.class);
            assertThat(locks.tryRun("job", lease -> {})).isFalse();
            assertThat(locks.tryCall("job", lease -> 1)).isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
        assertThat(locks.tryRun("job", lease -> {})).isTrue();
        assertThat(locks.tryCall("job", lease -> 1)).contains(1);
    }

    @Test
    void S19_aNameCannotForgeTheMessageAroundIt() {
        String name = "a\" is free\nb";
        assertThatThrownBy(() -> locks.run(name, outer -> locks.run(name, inner -> {})))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("lock \"a\\\" is free\\nb\" is held by");
    }

    @Test
    void theFailureOfTheBodyKeepsItsType() {
        assertThatThrownBy(() -> locks.run("job", lease -> {
                    throw new IOException("the body failed");
                }))
                .isInstanceOf(IOException.class);
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void S05_anErrorAfterTheGrantFreesTheLock() {
        HeldLock.OF_THREAD.set(new ConcurrentLinkedDeque<>() {
            @Override
            public void addFirst(HeldLock held) {
                throw new OutOfMemoryError("Java heap space");
            }
        });
        try {
            assertThatThrownBy(() -> locks.run("job", lease -> {})).isInstanceOf(OutOfMemoryError.class);
        } finally {
            HeldLock.OF_THREAD.remove();
        }
        assertThat(context.isFree("job")).isTrue();
    }

    @Test
    void S07_aLossFailsTheCall() {
        assertThatThrownBy(() -> locks.run("job", lease -> context.lose("job"))).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void S04_aNestedBodyIsNotReentrant() {
        assertThatThrownBy(() -> locks.run("job", lease -> locks.run("job", again -> {})))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void optionsApplyToTheLeases() {
        LockTemplate long1 = locks.options(LockOptions.defaults().leaseDuration(Duration.ofMinutes(5)));
        assertThat(long1.<Duration, RuntimeException>call("job", Lease::remaining))
                .isGreaterThan(Duration.ofMinutes(1));
    }

    @Test
    void S14_aNegativeWaitIsRefused() {
        assertThatThrownBy(() -> locks.maxWait(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT-0.001S");
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTemplate {
        @Bean
        LockTemplate own(LockClient client) {
            return new LockTemplate(client).maxWait(Duration.ofHours(1));
        }
    }

    @Test
    void theTemplateOfTheApplicationTakesPrecedence() {
        try (LockContext started = LockContext.start(OwnTemplate.class)) {
            assertThat(started.bean(LockTemplate.class))
                    .isSameAs(started.context().getBean("own"));
        }
    }

    @Test
    void S01_aBodyWhoseWorkGoesOnFailsTheCall() {
        CompletableFuture<String> work = new CompletableFuture<>();
        assertThatThrownBy(() -> locks.call("job", lease -> work))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("DistributedLock.callAsync");
        assertThatThrownBy(() -> locks.tryCall("job", lease -> Mono.just("x")))
                .isInstanceOf(IllegalStateException.class);
        work.complete("done");
        CompletableFuture<String> done = locks.call("job", lease -> work);
        assertThat(done).isSameAs(work);
        assertThat(context.isFree("job")).isTrue();
    }
}
