// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.testkit.process.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PortReservationTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Another process that wants a port. */
    static final class Main {
        private Main() {}

        /** Takes its number; ends by 1 if it is taken. */
        public static void main(String[] args) {
            System.exit(PortReservation.tryReserve(Integer.parseInt(args[0])).isPresent() ? 0 : 1);
        }
    }

    /** A proxy that refuses connections does not listen. */
    @Test
    void aPortIsNobodyElsesUntilItIsGivenBack_alsoInAnotherProcess() {
        PortReservation port = PortReservation.reserve();
        int number = port.address().getPort();
        assertThat(PortReservation.tryReserve(number)).isEmpty();
        try (ChildJvm other = ChildJvm.start(Main.class, Map.of(), List.of(Integer.toString(number)))) {
            assertThat(other.awaitExit(SOON)).as("taken, in another process").isOne();
        }
        port.close();
        assertThat(PortReservation.tryReserve(number)).hasValueSatisfying(PortReservation::close);
    }
}
