// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.maintenance.AlarmType;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("once")
class EtcdRiskCheckTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @ParameterizedTest
    @CsvSource({
        "3.3.27,      WARNING, 15247",
        "3.4.30,      WARNING, 15247",
        "3.4.31,      -,       -",
        "3.5.2,       ERROR,   3.5.0 to 3.5.2",
        "3.5.12,      WARNING, 15247",
        "3.5.13,      -,       -",
        "3.6.0,       -,       -",
        "3.6.0-rc.1,  -,       -",
        "4.0.0,       -,       -",
        "not a version, -,     -"
    })
    void versionsWithKnownBugsAreReported(String version, String severity, String text) {
        List<Finding> findings = EtcdRiskCheck.ofMember("h:1", version, true, true);
        if (severity.equals("-")) {
            assertThat(findings).isEmpty();
        } else {
            assertThat(findings.get(0).severity()).hasToString(severity);
            assertThat(findings.get(0).what()).contains("h:1", version, text);
        }
    }

    @Test
    void aSingleMemberHasNoReplacedLeader() {
        assertThat(EtcdRiskCheck.ofMember("h:1", "3.5.12", true, false)).isEmpty();
        assertThat(EtcdRiskCheck.ofMember("h:1", "3.5.2", true, false)).hasSize(1);
    }

    @Test
    void alarmsAndClusterSizesAreReported() {
        assertThat(EtcdRiskCheck.alarms(EnumSet.of(AlarmType.NOSPACE, AlarmType.UNRECOGNIZED)))
                .extracting(Finding::severity)
                .containsExactly(Severity.ERROR, Severity.ERROR);
        assertThat(EtcdRiskCheck.size(3)).isEmpty();
        assertThat(EtcdRiskCheck.size(4).get(0).severity()).isEqualTo(Severity.INFO);
        assertThat(EtcdRiskCheck.size(2).get(0).severity()).isEqualTo(Severity.WARNING);
        assertThat(EtcdRiskCheck.ofMember("h:1", "3.6.0", false, true).get(0).what())
                .contains("no leader");
    }

    @Test
    void aStoppedMemberIsReported() throws Exception {
        try (EtcdTestCluster cluster = EtcdTestCluster.start();
                LockClient client = Locks.connect(cluster.url())) {
            Await.until(
                    "all members respond",
                    SOON,
                    () -> findings(client).stream()
                            .noneMatch(what -> what.contains("answer") || what.contains("server")));
            EtcdTestServer down = cluster.followers().get(0);
            down.kill();
            Await.until("only that member is reported", SOON, () -> {
                List<String> silent = findings(client).stream()
                        .filter(what -> what.contains("answer"))
                        .toList();
                return silent.size() == 1 && silent.get(0).contains(":" + down.port() + " does not answer");
            });
        }
    }

    /** While the client switches to another member it gets no reply. */
    private static List<String> findings(LockClient client) {
        try {
            return diagnose(client);
        } catch (Exception e) {
            return List.of("no answer: " + e);
        }
    }

    private static List<String> diagnose(LockClient client) throws Exception {
        return client.admin().orElseThrow().diagnose().toCompletableFuture().get(30, TimeUnit.SECONDS).stream()
                .filter(finding -> !finding.what().contains("anyone who reaches"))
                .map(Finding::what)
                .toList();
    }
}
