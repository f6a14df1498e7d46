// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What of an ensemble, of its servers and of our own settings endangers locks. */
final class ZkDiagnosis {
    private static final Pattern VERSION = Pattern.compile("(?m)^Zookeeper version: (\\d+)\\.(\\d+)\\.(\\d+)");

    /** As many as the servers' container manager removes in a minute. */
    private static final int MANY_LOCK_NODES = 10_000;

    private ZkDiagnosis() {}

    /** @param config what the node of the configuration holds: nothing, on a server that stands alone */
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
                    "an ensemble of " + voters + " voting servers: no more of them may fail than of " + (voters - 1),
                    "run an odd number of voting servers; others can be observers"));
        }
        return List.of();
    }

    static Finding hidden(Throwable failure) {
        return new Finding(
                Severity.INFO,
                "the size of the ensemble is not known: " + failure.getMessage(),
                "let this user read /zookeeper/config");
    }

    static List<Finding> server(String endpoint, ServerWord.Said said) {
        if (said.failure().isPresent() || said.text().isBlank()) {
            return List.of(new Finding(
                    Severity.WARNING,
                    endpoint + " does not answer: "
                            + said.failure().map(Exception::toString).orElse("it closed the connection"),
                    "see to this server: one more that fails may be one too many"));
        }
        if (said.text().contains("not currently serving")) {
            return List.of(new Finding(
                    Severity.WARNING,
                    endpoint + " runs, and serves nobody: it has no majority",
                    "see to this server and its way to the others"));
        }
        Matcher version = VERSION.matcher(said.text());
        if (!version.find()) {
            return List.of(new Finding(
                    Severity.INFO,
                    "the version of " + endpoint + " is not known: it does not answer to srvr",
                    "put srvr into 4lw.commands.whitelist, or look yourself: 3.9.3 or newer"));
        }
        int major = Integer.parseInt(version.group(1));
        int minor = Integer.parseInt(version.group(2));
        int patch = Integer.parseInt(version.group(3));
        // Both are about what servers of an ensemble have in common.
        return said.text().contains("Mode: standalone") ? List.of() : knownBugs(endpoint, major, minor, patch);
    }

    private static List<Finding> knownBugs(String endpoint, int major, int minor, int patch) {
        String is = endpoint + " is ZooKeeper " + major + "." + minor + "." + patch;
        String remedy = "upgrade to 3.9.3 or newer";
        if (major == 3 && (minor < 5 || (minor == 5 && patch < 10) || (minor == 6 && patch < 3))) {
            return List.of(new Finding(
                    Severity.WARNING,
                    is
                            + ": after a change of leader its servers may not have the same data, and so not the same holders"
                            + " (ZOOKEEPER-3911)",
                    remedy));
        }
        if (major == 3 && (minor < 9 || (minor == 9 && patch < 3))) {
            return List.of(new Finding(
                    Severity.WARNING,
                    is + ": a follower that loses its leader may keep other data than the others (ZOOKEEPER-4712)",
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
                "see who leaves them: released locks are deleted by their clients, unless an ACL forbids that, and the servers"
                        + " remove at most 10,000 empty nodes a minute"));
    }

    static List<Finding> settings(ZooKeeperOptions options, Duration granted) {
        List<Finding> findings = new ArrayList<>(options.access().findings());
        if (options.supplier().isEmpty() && !granted.equals(options.sessionTimeout())) {
            findings.add(new Finding(
                    Severity.INFO,
                    "the server made the session timeout " + granted + " of the " + options.sessionTimeout()
                            + " asked for",
                    "set minSessionTimeout and maxSessionTimeout of the servers if that is not what you want"));
        }
        return findings;
    }
}
