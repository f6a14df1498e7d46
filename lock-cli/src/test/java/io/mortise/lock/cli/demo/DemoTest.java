// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole demo, with real processes, over a store that only the tests know: what --url promises of any backend. */
class DemoTest {
    @TempDir
    Path dir = Path.of("");

    private final StringWriter out = new StringWriter();

    private Result run(int workers, int items) throws IOException, InterruptedException {
        return new Demo(
                        "file-test:" + dir,
                        workers,
                        items,
                        false,
                        new Progress(new PrintWriter(out), false),
                        line -> {})
                .run();
    }

    @AfterEach
    void nothingIsLeft() {
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    @Test
    void showsWhatItClaims() throws Exception {
        Result result = run(3, 61);

        assertThat(result.failures()).as(out.toString()).isEmpty();
        // All three read the same stock once; whatever came later, two of those sales are lost.
        assertThat(result.without().lost()).isGreaterThanOrEqualTo(2);
        assertThat(result.without().sold()).isEqualTo(61);
        assertThat(result.without().stock().writes()).isEqualTo(61);
        assertThat(result.with().stock().left()).isZero();
        assertThat(result.with().stock().refused()).isGreaterThanOrEqualTo(1);
        assertThat(out.toString())
                .contains("its late write with token " + result.frozen().token() + " was refused");
    }
}
