// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Tests what counts as evidence that a reply was dropped. */
class LostReplyRecordTest {
    private static LostReplyRecord ended(OptionalInt dropped, boolean unanswered) {
        LostReplyRecord lost = new LostReplyRecord(() -> dropped);
        lost.answered = true;
        lost.unanswered = unanswered;
        lost.end();
        return lost;
    }

    @Test
    void theCountOfTheLinkDecidesIfThereIsOne() {
        assertThat(ended(OptionalInt.of(1), false).check().confirmed()).isOne();
        assertThat(ended(OptionalInt.of(0), true).check().example()).contains("FaultyLink.droppedReplies");
    }

    @Test
    void aRequestWithoutAReplyDecidesIfTheLinkDoesNotCount() {
        assertThat(ended(OptionalInt.empty(), true).check().confirmed()).isOne();
        assertThat(ended(OptionalInt.empty(), false).check().contradicted()).isOne();
    }

    /** Nobody is told of the replies to its renewals. */
    @Test
    void renewalsOfASessionWithoutGrantsAreNoEvidence() {
        ClientLinkState client = new ClientLinkState("client 1");
        LostReplyRecord lost = new LostReplyRecord(OptionalInt::empty);
        client.lostReply = lost;
        LockBackend store = (LockBackend) Proxy.newProxyInstance(
                LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, args) -> null);
        RecordingBackend backend = new RecordingBackend(store, client, new TestRecorder(Path.of("")));
        ManualClock clock = new ManualClock();
        GrantValidity session = new GrantValidity(clock, Duration.ofSeconds(1), clock.now()) {};
        backend.renew(List.of(session));
        backend.renew(List.of(session));
        assertThat(lost.unanswered).isFalse();
    }
}
