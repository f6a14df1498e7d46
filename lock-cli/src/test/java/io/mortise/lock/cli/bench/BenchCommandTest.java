// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.cli.CommandLineRun;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BenchCommandTest {
    private static final String SHORT = "--threads 3 --time 200ms --warm-up 100ms --url ";

    private static CommandLineRun bench(String options) {
        return CommandLineRun.of(("bench " + options).split(" ", -1));
    }

    @Test
    void printsBothRuns() {
        CommandLineRun bench = bench(SHORT + "memory:bench");
        assertThat(bench.err()).isEmpty();
        assertThat(bench.code()).isZero();
        assertThat(bench.lines()).hasSize(4);
        assertThat(bench.lines().get(0)).isEqualTo("3 threads, 0.2 s each; times in milliseconds");
        assertThat(bench.lines().get(1)).contains("cycles/s", "acquire p99", "release p50");
        assertThat(bench.lines().get(2)).matches("own locks +[1-9]\\d*( +\\d+\\.\\d{3}){4}");
        assertThat(bench.lines().get(3)).matches("one lock +[1-9]\\d*( +\\d+\\.\\d{3}){4}");
        assertThat(CommandLineRun.of("list", "--url", "memory:bench").out()).isEmpty();
    }

    @Test
    @Tag("once")
    void leavesNothingInTheStore() {
        try (RedisTestServer server = RedisTestServer.start();
                RawRedis redis = server.connect()) {
            CommandLineRun bench = bench("--json " + SHORT + server.url());
            assertThat(bench.number("threads")).isEqualTo(3);
            assertThat(bench.number("ownLocks", "cycles")).isPositive();
            assertThat(bench.number("oneLock", "cyclesPerSecond")).isPositive();
            assertThat(((Number) bench.at("oneLock", "acquireMillis", "p99")).doubleValue())
                    .isGreaterThanOrEqualTo(((Number) bench.at("oneLock", "acquireMillis", "p50")).doubleValue());
            assertThat(redis.call("KEYS", "*")).isEqualTo(List.of("lock:%token"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--threads 1", "--threads 1001", "--time 99ms", "--time 11m", "--warm-up 11m", "--time x"})
    void anOptionOutOfRangeHasExitCode64(String option) {
        CommandLineRun bench = bench(option + " --url memory:bench");
        assertThat(bench.code()).isEqualTo(64);
        assertThat(bench.err().lines()).hasSize(1);
    }
}
