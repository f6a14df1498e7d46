// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlockDurationConverterTest {
    @ParameterizedTest
    @CsvSource({"1, PT1S", "0, PT0S", "2.5, PT2.5S", "500ms, PT0.5S", "2m, PT2M", "PT3S, PT3S"})
    void aPlainNumberIsInSeconds(String text, Duration expected) {
        assertThat(new FlockDurationConverter().convert(text)).isEqualTo(expected);
    }
}
