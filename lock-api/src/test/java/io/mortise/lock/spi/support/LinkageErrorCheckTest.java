// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Tests that linkage errors are found among causes and reported with the jars involved. */
class LinkageErrorCheckTest {
    private static String message(Throwable failure) {
        return String.valueOf(
                LinkageErrorCheck.find(failure, "connect to h1:1").orElseThrow().getMessage());
    }

    @Test
    void S15_aMissingClassNamesTheJarsOfItsLibrary() {
        assertThat(message(new NoClassDefFoundError("org/assertj/core/Missing")))
                .startsWith("connect to h1:1 failed: ")
                .contains("NoClassDefFoundError: org/assertj/core/Missing")
                .containsPattern("Found: .*assertj-core-[0-9.]+\\.jar");
    }

    @Test
    void S15_aMissingMethodNamesTheJarsOfItsLibrary() {
        assertThat(message(new NoSuchMethodError("'java.lang.String org.assertj.core.Missing.method()'")))
                .containsPattern("Found: .*assertj-core-[0-9.]+\\.jar");
    }

    @Test
    void S15_aLinkageErrorIsFoundBelowOtherFailures() {
        IOException inner = new IOException("no", new NoClassDefFoundError("none/such/Missing"));
        assertThat(message(new CompletionException(inner))).contains("none/such/Missing");
    }

    @Test
    void S15_otherFailuresAreIgnored() {
        assertThat(LinkageErrorCheck.find(new IOException("no"), "connect")).isEmpty();
    }
}
