// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.testkit.proxy.PortReservation;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreePortsTest {
    /** Whoever got the port of a killed server would be taken for that server. */
    @Test
    void aPortIsGivenToNobodyElse_thoughNobodyListensOnIt() {
        List<Integer> ports = FreePorts.forServers(3);
        System.gc(); // nobody refers to the reservations
        assertThat(ports)
                .doesNotHaveDuplicates()
                .allSatisfy(port -> assertThatThrownBy(() -> PortReservation.reserve(port, 1, any -> true))
                        .isInstanceOf(IllegalStateException.class));
    }
}
