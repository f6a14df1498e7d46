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

/** Contract that text of other clients can break neither a client nor a terminal (S19). */
interface HostileTextContract extends Contract {
    /** Line ends, an escape sequence, quotes, separators of whatever format, half an escape, text that turns around. */
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
        ContractFixture.onlyIf(client, Capability.HOLDER_INFO);
        LockAdmin admin = ContractFixture.admin(other, "S19");
        for (String text : HOSTILE) {
            Map<String, String> metadata = new LinkedHashMap<>();
            metadata.put("value", text);
            metadata.put("key " + text, "value");
            LockOptions options = LockOptions.defaults().metadata(metadata);
            Lease held = client.named("x", options).acquire();
            CompletableFuture<Lease> waiting = other.named("x", options).acquireAsync();
            ContractFixture.awaitWaiters(other, "x", 1);
            LockHolder shown = ContractFixture.status(admin, "x").holders().get(0);
            assertThat(shown.metadata()).isEqualTo(metadata);
            assertThat(shown.owner()).as("forged by metadata").contains(held.ownerId());
            assertThat(shown.pid())
                    .as("forged by metadata")
                    .hasValue(ProcessHandle.current().pid());
            assertThat(shown.foreign()).isFalse();
            assertThat(shown.raw())
                    .as("S18: one line for any terminal")
                    .matches("[^\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]*");
            if (client.capabilities().contains(Capability.LIST)) {
                assertThat(ContractFixture.await(admin.list("", 10, "")).locks())
                        .hasSize(1);
            }
            held.close();
            ApiStyle.result(waiting).close();
        }
        fixture().assertFree(other, "x");
    }

    /** The metadata of a waiter lies in the store too, before everybody who comes after it. */
    @Test
    default void S19_aHostileWaiterHoldsUpNobody() throws Exception {
        LockClient client = fixture().client();
        LockClient other = fixture().client();
        LockOptions options = LockOptions.defaults().metadata(Map.of("k", String.join("", HOSTILE)));
        Lease held = other.named("x").acquire();
        CompletableFuture<ReleaseOutcome> hostile =
                client.named("x", options).acquireAsync().thenCompose(Lease::releaseAsync);
        CompletableFuture<ReleaseOutcome> behind =
                other.named("x").acquireAsync().thenCompose(Lease::releaseAsync);
        ContractFixture.awaitWaiters(other, "x", 2);
        held.close();
        assertThat(ApiStyle.result(hostile)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(ApiStyle.result(behind)).isEqualTo(ReleaseOutcome.RELEASED);
        fixture().assertFree(other, "x");
    }
}
