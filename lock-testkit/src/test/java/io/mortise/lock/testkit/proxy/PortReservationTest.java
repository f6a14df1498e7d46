// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.process.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PortReservationTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Main class of another process that tries to reserve a port. */
    static final class Main {
        private Main() {}

        /** Tries to reserve the port given as argument; exits with 1 if it is already reserved. */
        public static void main(String[] args) {
            System.exit(PortReservation.tryReserve(Integer.parseInt(args[0])).isPresent() ? 0 : 1);
        }
    }

    @Test
    void aPortThatDoesNotSuit_isNotReserved() {
        assertThatThrownBy(() -> PortReservation.reserve(32_700, 2, any -> false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("all 2 ports from 32700 are reserved or taken");
        assertThat(PortReservation.tryReserve(32_700)).hasValueSatisfying(PortReservation::close);
    }

    /** A proxy that refuses connections does not listen, so only the reservation protects its port. */
    @Test
    void aReservedPort_cannotBeReservedAgain_evenByAnotherProcess() {
        PortReservation port = PortReservation.reserve(30_000, 2_700, any -> true);
        int number = port.address().getPort();
        assertThat(PortReservation.tryReserve(number)).isEmpty();
        try (ChildJvm other = ChildJvm.start(Main.class, Map.of(), List.of(Integer.toString(number)))) {
            assertThat(other.awaitExit(SOON))
                    .as("exit code of the other process")
                    .isOne();
        }
        port.close();
        assertThat(PortReservation.tryReserve(number)).hasValueSatisfying(PortReservation::close);
    }
}
