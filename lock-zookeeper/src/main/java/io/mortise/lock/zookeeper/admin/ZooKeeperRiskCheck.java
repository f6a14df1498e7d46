// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.admin;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Examines the ensemble, each server and the client's settings, and reports risks to the locks. */
final class ZooKeeperRiskCheck {
    private static final Pattern VERSION = Pattern.compile("(?m)^Zookeeper version: (\\d+)\\.(\\d+)\\.(\\d+)");

    /** The number of empty containers that a server's container manager deletes in a minute. */
    private static final int MANY_LOCK_NODES = 10_000;

    private ZooKeeperRiskCheck() {}

    /**
     * Checks the size of the ensemble.
     *
     * @param config the content of the configuration node: empty on a standalone server
     */
    static List<Finding> ensemble(String config) {
        long voters = config.lines()
                .filter(line -> line.startsWith("server.") && !line.contains(":observer"))
                .count();
        if (voters < 3) {
            return List.of(new Finding(
                    Severity.WARNING,
                    voters == 0 ? "a standalone server" : "an ensemble of " + voters + " voting servers",
                    "run three or more: with fewer, one failure stops all locks"));
        }
        if (voters % 2 == 0) {
            return List.of(new Finding(
                    Severity.INFO,
                    "an ensemble of " + voters + " voting servers, which tolerates no more failures than one of "
                            + (voters - 1),
                    "run an odd number of voting servers; others can be observers"));
        }
        return List.of();
    }

    static Finding hiddenConfig(Throwable failure) {
        return new Finding(
                Severity.INFO,
                "the size of the ensemble is not known: " + failure.getMessage(),
                "let this user read /zookeeper/config");
    }

    static List<Finding> server(String endpoint, ServerStatusProbe.Response response) {
        if (response.failure().isPresent() || response.text().isBlank()) {
            return List.of(new Finding(
                    Severity.WARNING,
                    endpoint + " does not answer: "
                            + response.failure().map(Exception::toString).orElse("it closed the connection"),
                    "repair this server: one more failure may stop all locks"));
        }
        if (response.text().contains("not currently serving")) {
            return List.of(new Finding(
                    Severity.WARNING,
                    endpoint + " is running but serves no clients: it has no majority",
                    "check this server and its connections to the others"));
        }
        Matcher version = VERSION.matcher(response.text());
        if (!version.find()) {
            return List.of(new Finding(
                    Severity.INFO,
                    "the version of " + endpoint + " is not known: it does not answer the command srvr",
                    "add srvr to 4lw.commands.whitelist, or check manually that it is 3.9.3 or newer"));
        }
        int major = Integer.parseInt(version.group(1));
        int minor = Integer.parseInt(version.group(2));
        int patch = Integer.parseInt(version.group(3));
        // Both bugs make servers of an ensemble diverge.
        return response.text().contains("Mode: standalone") ? List.of() : knownBugs(endpoint, major, minor, patch);
    }

    private static List<Finding> knownBugs(String endpoint, int major, int minor, int patch) {
        String is = endpoint + " is ZooKeeper " + major + "." + minor + "." + patch;
        String remedy = "upgrade to 3.9.3 or newer";
        if (major == 3 && (minor < 5 || (minor == 5 && patch < 10) || (minor == 6 && patch < 3))) {
            return List.of(new Finding(
                    Severity.WARNING,
                    is
                            + ": after a change of leader its servers may have different data, and so different holders"
                            + " (ZOOKEEPER-3911)",
                    remedy));
        }
        if (major == 3 && (minor < 9 || (minor == 9 && patch < 3))) {
            return List.of(new Finding(
                    Severity.WARNING,
                    is + ": a follower that loses its leader may keep different data from the others (ZOOKEEPER-4712)",
                    remedy));
        }
        return List.of();
    }

    static List<Finding> lockNodes(int count) {
        if (count < MANY_LOCK_NODES) {
            return List.of();
        }
        return List.of(new Finding(
                Severity.WARNING,
                count + " lock nodes under the base path",
                "find out which client creates them: clients delete the nodes of released locks, unless an ACL forbids that,"
                        + " and the servers remove at most 10,000 empty nodes a minute"));
    }

    static List<Finding> settings(ZooKeeperSettings settings, Duration granted) {
        List<Finding> findings = new ArrayList<>(settings.exposureCheck().findings());
        if (settings.managesHandle() && !granted.equals(settings.sessionTimeout())) {
            findings.add(new Finding(
                    Severity.INFO,
                    "the server granted a session timeout of " + granted + " instead of " + settings.sessionTimeout(),
                    "change minSessionTimeout and maxSessionTimeout of the servers if you need the requested one"));
        }
        return findings;
    }
}
