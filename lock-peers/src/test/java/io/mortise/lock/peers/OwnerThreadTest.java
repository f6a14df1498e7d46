// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class OwnerThreadTest {
    @Test
    void allCallsRunOnOneThread() throws Exception {
        try (OwnerThread owner = new OwnerThread()) {
            Thread first = owner.call(Thread::currentThread);
            assertThat(owner.call(Thread::currentThread)).isSameAs(first).isNotSameAs(Thread.currentThread());
        }
    }

    /** An interrupt that is lost would look like a peer that ignores interrupts. */
    @Test
    void anInterruptBeforeTheCallReachesIt() {
        try (OwnerThread owner = new OwnerThread()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> owner.call(OwnerThreadTest::waitForever)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Test
    void anInterruptDuringTheCallReachesIt() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        AtomicReference<Throwable> outcome = new AtomicReference<>();
        try (OwnerThread owner = new OwnerThread()) {
            Thread caller = new Thread(() -> {
                try {
                    owner.call(() -> {
                        running.countDown();
                        return waitForever();
                    });
                } catch (Exception e) {
                    outcome.set(e);
                }
            });
            caller.start();
            running.await();
            caller.interrupt();
            caller.join();
        }
        assertThat(outcome.get()).isInstanceOf(InterruptedException.class);
    }

    /** A grant that coincides with an interrupt is kept, with the interrupt flag. */
    @Test
    void aCallThatIgnoresTheInterruptStillReturnsItsResult() throws Exception {
        try (OwnerThread owner = new OwnerThread()) {
            Thread.currentThread().interrupt();
            assertThat(owner.call(() -> "granted")).isEqualTo("granted");
            assertThat(Thread.interrupted()).isTrue();
            boolean interruptedLater = owner.call(() -> Thread.currentThread().isInterrupted());
            assertThat(interruptedLater).isFalse();
        }
    }

    private static String waitForever() throws InterruptedException {
        new CountDownLatch(1).await();
        return "";
    }
}
