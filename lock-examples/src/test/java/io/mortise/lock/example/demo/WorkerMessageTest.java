// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class WorkerMessageTest {
    static Stream<WorkerMessage> messages() {
        return Stream.of(
                new WorkerMessage.Ready(),
                new WorkerMessage.Read(3, OptionalLong.empty()),
                new WorkerMessage.Read(3, OptionalLong.of(4_294_967_301L)),
                new WorkerMessage.Sold(OptionalLong.of(8)),
                new WorkerMessage.Refused(7, 9, false),
                new WorkerMessage.Refused(7, 9, true),
                new WorkerMessage.Done(),
                new WorkerMessage.Failed("zookeeper h:2181: code=1 text=two did not answer"));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void parseIsTheInverseOfLine(WorkerMessage message) {
        assertThat(WorkerMessage.parse(message.line())).contains(message);
    }

    @Test
    void failureIsOneLine() {
        assertThat(new WorkerMessage.Failed("one\r\ntwo").line()).isEqualTo("FAILED text=one two");
    }

    @Test
    void lineOfTheLogIsNotAMessage() {
        assertThat(WorkerMessage.parse("12:00:00.000 [main] WARN HeldLease - event=lost token=7"))
                .isEmpty();
    }
}
