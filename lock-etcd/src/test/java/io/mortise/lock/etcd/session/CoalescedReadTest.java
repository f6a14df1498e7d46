// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CoalescedReadTest {
    private final List<CompletableFuture<Boolean>> sent = new ArrayList<>();
    private final CoalescedRead reads = new CoalescedRead(() -> {
        CompletableFuture<Boolean> read = new CompletableFuture<>();
        sent.add(read);
        return read;
    });

    private CompletableFuture<Boolean> read() {
        return reads.read().toCompletableFuture();
    }

    /** Otherwise a session that ended with the second event would be taken for a valid one. */
    @Test
    void S07_aReadThatStartedBeforeAnEventIsNotUsedForTheEvent() {
        CompletableFuture<Boolean> before = read();
        CompletableFuture<Boolean> after = read();
        CompletableFuture<Boolean> alsoAfter = read();
        assertThat(sent).as("one at a time").hasSize(1);
        sent.get(0).complete(true);
        assertThat(before).isCompletedWithValue(true);
        assertThat(after).isNotDone();
        assertThat(sent).as("one for both").hasSize(2);
        sent.get(1).complete(false);
        assertThat(List.of(after, alsoAfter)).allSatisfy(one -> assertThat(one).isCompletedWithValue(false));
        read();
        assertThat(sent).hasSize(3);
    }

    @Test
    void S07_aFailedReadDoesNotFailTheNext() {
        CompletableFuture<Boolean> before = read();
        CompletableFuture<Boolean> after = read();
        sent.get(0).completeExceptionally(new IllegalStateException("as planned"));
        assertThat(before).isCompletedExceptionally();
        sent.get(1).complete(true);
        assertThat(after).isCompletedWithValue(true);
    }

    @Test
    void S07_aReadThatThrowsAnErrorFailsAndDoesNotHoldUpTheNext() {
        List<Error> errors = new ArrayList<>(List.of(new StackOverflowError("as planned")));
        CoalescedRead throwing = new CoalescedRead(() -> {
            if (!errors.isEmpty()) {
                throw errors.remove(0);
            }
            return CompletableFuture.completedFuture(true);
        });
        assertThat(throwing.read().toCompletableFuture()).isCompletedExceptionally();
        assertThat(throwing.read().toCompletableFuture()).isCompletedWithValue(true);
    }
}
