// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MessageTest {
    static Stream<Message> messages() {
        return Stream.of(
                new Message.Ready(),
                new Message.Read(3, OptionalLong.empty()),
                new Message.Read(3, OptionalLong.of(4_294_967_301L)),
                new Message.Sold(OptionalLong.of(8)),
                new Message.Refused(7, 9, false),
                new Message.Refused(7, 9, true),
                new Message.Done(),
                new Message.Failed(69, "zookeeper h:2181: code=1 text=two did not answer"));
    }

    @ParameterizedTest
    @MethodSource("messages")
    void isReadAsItWasWritten(Message message) {
        assertThat(Message.parse(message.line())).contains(message);
    }

    @Test
    void aFailureStaysOnOneLine() {
        assertThat(new Message.Failed(70, "one\r\ntwo").line()).isEqualTo("FAILED code=70 text=one two");
    }

    @Test
    void aLineOfTheLogIsNoMessage() {
        assertThat(Message.parse("12:00:00.000 [main] WARN HeldLease - event=lost token=7"))
                .isEmpty();
    }
}
