// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which connection settings cause a warning when a client connects. */
class StoreExposureCheckTest {
    private static List<Finding> findings(
            boolean loopback, boolean restricted, boolean passwordSent, boolean encrypted, boolean verified) {
        return new StoreExposureCheck("store://h", loopback, restricted, passwordSent, encrypted, verified).findings();
    }

    private static void assertOne(List<Finding> findings, Severity severity, String text) {
        assertThat(findings).singleElement().satisfies(found -> {
            assertThat(found.severity()).isEqualTo(severity);
            assertThat(found.what()).contains(text);
        });
    }

    @Test
    void S19_settingsThatExposeTheStoreAreWarnings() {
        assertOne(findings(false, false, false, false, true), Severity.WARNING, "open to everyone who reaches");
        assertOne(findings(false, true, true, false, true), Severity.WARNING, "password is sent without TLS");
        assertOne(findings(false, true, true, true, false), Severity.WARNING, "certificates are not verified");
        assertThat(findings(false, true, true, true, true)).isEmpty();
        assertThat(findings(false, true, false, true, true))
                .as("a client certificate instead of a password")
                .isEmpty();
    }

    @Test
    void S19_onLoopbackAFindingIsAnInfoAtMost() {
        assertOne(findings(true, false, false, false, true), Severity.INFO, "open to everyone on this machine");
        assertThat(findings(true, true, true, false, true)).isEmpty();
    }

    @Test
    void loopbackIsRecognisedByHostName() {
        assertThat(StoreExposureCheck.isLoopback(List.of("localhost", "127.0.0.1", "127.1.2.3", "[::1]", "::1")))
                .isTrue();
        assertThat(StoreExposureCheck.isLoopback(List.of("localhost", "example.org")))
                .isFalse();
        assertThat(StoreExposureCheck.isLoopback(List.of("127.0.0.1.example.org")))
                .isFalse();
        assertThat(StoreExposureCheck.isLoopback(List.of())).isFalse();
    }
}
