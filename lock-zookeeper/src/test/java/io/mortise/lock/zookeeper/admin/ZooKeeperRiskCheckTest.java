// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockClient;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestEnsemble;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperTestSupport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that risky server versions, ensemble sizes and failed servers are reported. */
@Tag("once")
class ZooKeeperRiskCheckTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    private static List<Finding> findings(String text) {
        return ZooKeeperRiskCheck.server("h:1", new ServerStatusProbe.Response(text, Optional.empty()));
    }

    @ParameterizedTest
    @CsvSource({
        "3.4.14, ZOOKEEPER-3911",
        "3.5.9,  ZOOKEEPER-3911",
        "3.5.10, ZOOKEEPER-4712",
        "3.6.2,  ZOOKEEPER-3911",
        "3.8.4,  ZOOKEEPER-4712",
        "3.9.2,  ZOOKEEPER-4712",
        "3.9.3,  -",
        "3.10.0, -"
    })
    void versionsWithKnownBugsAreReported(String version, String bug) {
        List<Finding> findings =
                findings("Zookeeper version: " + version + "-c26634f34490bb0ea7a09cc51e05ede3b4e320ee, built on"
                        + " 2020-01-01 00:00 UTC\nLatency min/avg/max: 0/0.0/0\nMode: follower\n");
        if (bug.equals("-")) {
            assertThat(findings).isEmpty();
        } else {
            assertThat(findings)
                    .singleElement()
                    .satisfies(found -> assertThat(found.what()).contains("h:1", version, bug));
        }
    }

    @Test
    void bugsOfEnsemblesAreNotReportedForAStandaloneServer() {
        assertThat(findings("Zookeeper version: 3.4.14-4c25d48, built on 03/06/2019 16:18 GMT\nMode: standalone\n"))
                .isEmpty();
    }

    @Test
    void anUnknownVersionAndAnUnreadableConfigurationAreReported() {
        assertThat(findings("srvr is not executed because it is not in the whitelist.\n")
                        .get(0)
                        .what())
                .contains("version of h:1 is not known");
        assertThat(findings("This ZooKeeper instance is not currently serving requests\n")
                        .get(0)
                        .what())
                .contains("serves no clients");
        assertThat(ZooKeeperRiskCheck.hiddenConfig(new IllegalStateException("NoAuth"))
                        .what())
                .contains("NoAuth");
    }

    @Test
    void ensembleSizesAreReported() {
        String three = "server.1=a:1:2:participant\nserver.2=b:1:2:participant\nserver.3=c:1:2:participant\n";
        assertThat(ZooKeeperRiskCheck.ensemble(three + "server.4=d:1:2:observer\nversion=0"))
                .isEmpty();
        assertThat(ZooKeeperRiskCheck.ensemble(three + "server.4=d:1:2:participant\n")
                        .get(0)
                        .what())
                .contains("an ensemble of 4");
        assertThat(ZooKeeperRiskCheck.ensemble("server.1=a:1:2:participant\n")
                        .get(0)
                        .what())
                .contains("an ensemble of 1");
        assertThat(ZooKeeperRiskCheck.ensemble("").get(0).what()).isEqualTo("a standalone server");
    }

    @Test
    void aFailedServerOfAnEnsembleIsReportedToAClientWithAChroot() throws Exception {
        try (ZooKeeperTestEnsemble ensemble = ZooKeeperTestEnsemble.start()) {
            ZooKeeper plain = ZooKeeperTestSupport.openHandle(ensemble.connectString());
            ZooKeeperTestSupport.createPath(plain, "/some/root");
            plain.close();
            try (LockClient client = ZooKeeperLocks.connect(
                    ZooKeeperTestSupport.options(ensemble.connectString() + "/some/root", Duration.ofSeconds(10)))) {
                Await.until("no findings are left", SOON, () -> what(client).isEmpty());
                ensemble.kill(ensemble.follower());
                Await.until("one server does not answer", SOON, () -> {
                    List<String> what = what(client);
                    return what.size() == 1 && what.get(0).contains("does not answer");
                });
            }
        }
    }

    /** Returns the findings, or the failure of a request: requests fail while the client searches for another server. */
    private static List<String> what(LockClient client) {
        try {
            return ZooKeeperTestSupport.diagnosis(client).stream()
                    .map(Finding::what)
                    .filter(what -> !what.contains("open to everyone"))
                    .toList();
        } catch (Exception e) {
            return List.of(e.toString());
        }
    }
}
