// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EnclosingRunTest {
    private static EnclosingRun enclosingRun(String name, String owner) {
        return EnclosingRun.of(Map.of("LOCK_NAME", name, "LOCK_OWNER", owner)).orElseThrow();
    }

    @Test
    void holdsOnlyTheLockWithItsNameAndOwner() throws Exception {
        try (LockClient client = Locks.connect("memory:outer-run");
                Lease held = client.named("x").acquire()) {
            assertThat(enclosingRun("x", held.ownerId()).holds(client.named("x")))
                    .isTrue();
            assertThat(enclosingRun("x", "another owner").holds(client.named("x")))
                    .as("in another store")
                    .isFalse();
            assertThat(enclosingRun("y", held.ownerId()).holds(client.named("x")))
                    .isFalse();
            assertThat(enclosingRun("gr\uFFFD\uFFFDe", held.ownerId()).holds(client.named("x")))
                    .as("a name that the locale may have garbled")
                    .isTrue();
        }
        assertThat(EnclosingRun.of(Map.of("LOCK_NAME", "x"))).isEmpty();
    }
}
