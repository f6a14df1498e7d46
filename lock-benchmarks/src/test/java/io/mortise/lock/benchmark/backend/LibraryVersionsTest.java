// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.benchmark.backend;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LibraryVersionsTest {
    @ParameterizedTest
    @ValueSource(strings = {"curator-recipes", "jetcd-core", "lettuce-core", "redisson", "zookeeper"})
    void buildFillsInVersions(String library) {
        assertThat(LibraryVersions.of(library)).matches("\\d+\\.\\d+.*");
    }
}
