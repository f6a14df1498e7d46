// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class OpenSessionWaitersTest {
    private final OpenSessionWaiters<String> waiters = new OpenSessionWaiters<>();

    @Test
    void S12_waitersContinueInTheirOrder() {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int waiter = i;
            waiters.join().thenRun(() -> order.add(waiter));
        }
        waiters.complete("session");
        assertThat(order).containsExactly(0, 1, 2);
        assertThat(waiters.join()).isCompletedWithValue("session");
    }

    @Test
    void S17_aWaiterThatHasLeftIsNotKept() {
        CompletableFuture<String> left = waiters.join();
        CompletableFuture<String> stays = waiters.join();
        left.cancel(false);
        assertThat(waiters.size()).isEqualTo(1);
        waiters.complete("session");
        assertThat(stays).isCompletedWithValue("session");
        assertThat(waiters.size()).isZero();
    }
}
