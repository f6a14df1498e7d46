// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.mortise.lock.cli.CommandLineRun;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of {@code lockctl doctor}. */
class DoctorTest {
    @Test
    void aStoreWithOnlyInfoFindingsIsHealthy() {
        CommandLineRun doctor = CommandLineRun.of("doctor", "--url", "memory:doctor");
        assertThat(doctor.err()).isEmpty();
        assertThat(doctor.code()).isZero();
        assertThat(doctor.lines())
                .contains(
                        "store       memory:doctor",
                        "clock       not reported by this store",
                        "INFO     locks in memory exclude nobody outside this JVM")
                .anyMatch(line -> line.matches("round trip  median [\\d.]+ ms, slowest of 21 [\\d.]+ ms"))
                .anyMatch(line -> line.startsWith("supports    ") && line.contains("FENCING"));
        assertThat(doctor.out()).contains("Nothing was found that endangers locks.");
    }

    @Test
    void leavesNoLockInTheStore() {
        CommandLineRun.of("doctor", "--url", "memory:doctor-cleanup");
        assertThat(CommandLineRun.of("list", "--url", "memory:doctor-cleanup").out())
                .isEmpty();
    }

    @Test
    @Tag("once")
    void aServerWithoutPersistenceIsReportedWithARemedyAndExitCode1() {
        try (RedisTestServer server = RedisTestServer.start();
                RawRedis redis = server.connect()) {
            CommandLineRun doctor = CommandLineRun.of("doctor", "--json", "--url", server.url());
            assertThat(doctor.code()).isEqualTo(1);
            assertThat(doctor.at("ok")).isEqualTo(false);
            assertThat(doctor.at("url")).isEqualTo(server.url());
            assertThat(doctor.at("findings", 0, "severity")).isEqualTo("warning");
            assertThat((String) doctor.at("findings", 0, "what")).contains("append-only");
            assertThat((String) doctor.at("findings", 0, "remedy")).contains("appendonly yes");
            assertThat(((Number) doctor.at("clocks", 0, "aheadMillis")).doubleValue())
                    .isBetween(-100.0, 100.0);
            assertThat(((Number) doctor.at("roundTripMillis", "median")).doubleValue())
                    .isPositive();
            assertThat(CommandLineRun.of("doctor", "--fail-on=error", "--url", server.url())
                            .code())
                    .as("exit code for a warning")
                    .isZero();
            assertThat(redis.call("KEYS", "*")).isEqualTo(List.of("lock:%token"));
            CommandLineRun text = CommandLineRun.of("doctor", "--url", server.url());
            assertThat(text.out()).contains("WARNING  the append-only file is off", "         -> set appendonly yes");
        }
    }

    @Test
    @Tag("once")
    void aServerWithPersistenceIsHealthyAndThePasswordIsNotShown() {
        try (RedisTestServer server = RedisTestServer.start(
                RedisServerOptions.defaults().withKeptData().withPassword("s3cret"))) {
            CommandLineRun doctor = CommandLineRun.of("doctor", "--url", "redis://:s3cret@127.0.0.1:" + server.port());
            assertThat(doctor.code()).as(doctor.out()).isZero();
            assertThat(doctor.out() + doctor.err()).doesNotContain("s3cret");
        }
    }

    @Test
    @Tag("once")
    void aUserWithoutPermissionToLockIsReported() {
        RedisServerOptions readers = RedisServerOptions.defaults()
                .withKeptData()
                .withUser("reader", "on", ">pw", "~*", "&*", "+@all", "-set");
        try (RedisTestServer server = RedisTestServer.start(readers)) {
            CommandLineRun doctor = CommandLineRun.of(
                    "doctor", "--fail-on=error", "--url", "redis://reader:pw@127.0.0.1:" + server.port());
            assertThat(doctor.code()).isEqualTo(1);
            assertThat(doctor.out()).contains("ERROR    no lock can be acquired");
        }
    }

    @Test
    @Tag("once")
    void aWrongClockIsReported() {
        assumeTrue(RedisTestServer.canSetClock(), "libfaketime is not installed");
        try (RedisTestServer server = RedisTestServer.start(
                RedisServerOptions.defaults().withKeptData().withOwnClock())) {
            server.setClock(Duration.ofMinutes(2));
            CommandLineRun doctor = CommandLineRun.of("doctor", "--json", "--url", server.url());
            assertThat(((Number) doctor.at("clocks", 0, "aheadMillis")).doubleValue())
                    .isBetween(119_000.0, 121_000.0);
            assertThat((String) doctor.at("findings", 0, "what")).contains("clock of", "ahead of");
            assertThat(doctor.code()).isEqualTo(1);
        }
    }

    @Test
    void anInvalidUrlHasExitCode64() {
        assertThat(CommandLineRun.of("doctor", "--url", "nonsense").code()).isEqualTo(64);
    }
}
