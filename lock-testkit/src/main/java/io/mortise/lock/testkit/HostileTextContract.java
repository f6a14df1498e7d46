// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.Lease;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockOptions;
import io.mortise.lock.ReleaseOutcome;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests that hostile text stored by another client can harm neither a client nor a terminal. Rule S19. */
interface HostileTextContract extends Contract {
    /** Line breaks, an escape sequence, quotes, separators and escapes of various formats, incomplete escapes, right-to-left text. */
    List<String> HOSTILE = List.of(
            "a\nb",
            "a\r\nowner=root",
            "a host=elsewhere pid=1 since=2000-01-01T00:00:00Z meta.value=b",
            "\u0000",
            "\u001b[31m\u0007",
            "\u0085\u2028",
            "\"'`",
            "= & ; , : |",
            "%0A%",
            "%",
            "a+b%20c%2B",
            "caf\u00e9 \ud83d\ude00",
            "\\n\\",
            "{\"a\":[1]}",
            "${x} $(x) <x/>",
            "\u202egnirts",
            "",
            " ");

    @Test
    default void S19_hostileMetadataIsShownAsItIsAndStoredAsOneLine() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        ContractTestFixture.onlyIf(client, Capability.HOLDER_INFO);
        LockAdmin admin = ContractTestFixture.admin(other, "S19");
        for (String text : HOSTILE) {
            Map<String, String> metadata = new LinkedHashMap<>();
            metadata.put("value", text);
            metadata.put("key " + text, "value");
            LockOptions options = LockOptions.defaults().metadata(metadata);
            Lease held = client.named("x", options).acquire();
            CompletableFuture<Lease> waiting = other.named("x", options).acquireAsync();
            ContractTestFixture.awaitWaiters(other, "x", 1);
            LockHolder shown = ContractTestFixture.status(admin, "x").holders().get(0);
            assertThat(shown.metadata()).isEqualTo(metadata);
            assertThat(shown.owner()).as("forged by metadata").contains(held.ownerId());
            assertThat(shown.pid())
                    .as("forged by metadata")
                    .hasValue(ProcessHandle.current().pid());
            assertThat(shown.isForeign()).isFalse();
            assertThat(shown.raw())
                    .as("S18: one line for any terminal")
                    .matches("[^\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]*");
            if (client.capabilities().contains(Capability.LIST)) {
                assertThat(ContractTestFixture.await(admin.list("", 10, "")).locks())
                        .hasSize(1);
            }
            held.close();
            ApiStyle.result(waiting).close();
        }
        fixture().assertFree(other, "x");
    }

    /** A waiter's metadata is stored too, in a queue entry ahead of those of later waiters. */
    @Test
    default void S19_aHostileWaiterBlocksNoOtherWaiter() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockOptions options = LockOptions.defaults().metadata(Map.of("k", String.join("", HOSTILE)));
        Lease held = other.named("x").acquire();
        CompletableFuture<ReleaseOutcome> hostile =
                client.named("x", options).acquireAsync().thenCompose(Lease::releaseAsync);
        CompletableFuture<ReleaseOutcome> behind =
                other.named("x").acquireAsync().thenCompose(Lease::releaseAsync);
        ContractTestFixture.awaitWaiters(other, "x", 2);
        held.close();
        assertThat(ApiStyle.result(hostile)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(ApiStyle.result(behind)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }
}
