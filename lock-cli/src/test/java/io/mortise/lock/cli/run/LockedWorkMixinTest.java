// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Tests the message that {@code lockctl run -w} prints when the lock is still busy. */
class LockedWorkMixinTest {
    @Test
    void theMessageOfABusyLockNamesItsHolder() throws Exception {
        try (LockClient client = Locks.connect("memory:busy")) {
            try (Lease held = client.named("x").acquire()) {
                assertThat(LockedWorkMixin.busyMessage(client, "x", Duration.ofSeconds(90)))
                        .startsWith("lock \"x\" is still busy after 1m30s: held by "
                                + held.ownerId().substring(0, 8) + "  ")
                        .endsWith(":" + ProcessHandle.current().pid() + "  token " + held.fencingToken());
            }
            assertThat(LockedWorkMixin.busyMessage(client, "x", Duration.ofMillis(200)))
                    .as("released meanwhile")
                    .isEqualTo("lock \"x\" is still busy after 0.2s");
            assertThat(LockedWorkMixin.busyMessage(client, "x\u001b[2J", Duration.ofSeconds(1)))
                    .as("S19: a name cannot control the terminal")
                    .isEqualTo("lock \"x\\u001b[2J\" is still busy after 1s");
        }
    }
}
