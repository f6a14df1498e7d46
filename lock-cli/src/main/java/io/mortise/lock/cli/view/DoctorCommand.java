// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonFormatter;
import io.mortise.lock.spi.LockUrl;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Implements {@code lockctl doctor}, which checks whether a store is suitable for locks and recommends remedies. */
@Command(
        name = "doctor",
        header = "Checks whether the store is fit for locks, and recommends remedies.",
        description = {
            "Connects, acquires and releases a test lock, measures round trips, compares the clocks if the store reports its"
                    + " time, and checks for risks to locks: eviction, data that is lost on a restart, replicas that grants do"
                    + " not wait for, a single server or an even number of servers, servers that are down, versions with known"
                    + " bugs, and missing access control.",
            "It sees only what the store reports to this user. It does not check what it cannot see, such as the fsync settings"
                    + " of ZooKeeper and etcd, or who may stop the machines.",
            "A finding is an ERROR (locks cannot be acquired, or can be lost without a fault), a WARNING (a fault or another"
                    + " client can take locks away) or an INFO. Exits with 1 if there is a warning or an error (with"
                    + " --fail-on=error: only if there is an error), otherwise with 0."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl doctor --url redis://localhost:6379",
            "  lockctl doctor --fail-on=error || page-on-call",
            "  lockctl doctor --json | jq -r '.findings[] | .severity + \" \" + .what'"
        })
public final class DoctorCommand extends AdminCommand {
    @Option(
            names = "--fail-on",
            paramLabel = "SEVERITY",
            description =
                    "The lowest severity that makes it exit with 1: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private SeverityThreshold failOn = SeverityThreshold.warning;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        LockSelfTest.RoundTrips roundTrips = LockSelfTest.measureRoundTrips(admin);
        List<ServerClockOffset> clocks = ServerClockOffset.measure(admin);
        List<Finding> findings = new ArrayList<>(await(admin.diagnose()));
        LockSelfTest.tryLock(client).ifPresent(findings::add);
        clocks.forEach(clock -> clock.finding().ifPresent(findings::add));
        findings.sort(Comparator.comparing(Finding::severity).reversed());
        boolean healthy = findings.stream().allMatch(finding -> finding.severity() == Severity.INFO);
        if (invocation().json()) {
            out().println(JsonFormatter.of(json(client, roundTrips, clocks, findings, healthy)));
        } else {
            print(client, roundTrips, clocks, findings, healthy);
        }
        boolean failed =
                findings.stream().anyMatch(finding -> finding.severity().compareTo(failOn.lowest) >= 0);
        return failed ? ExitCodes.FAILED : ExitCodes.OK;
    }

    private String url() {
        return LockUrl.parse(invocation().url()).toString(); // without secrets
    }

    private void print(
            LockClient client,
            LockSelfTest.RoundTrips roundTrips,
            List<ServerClockOffset> clocks,
            List<Finding> findings,
            boolean healthy) {
        line("store", HolderFormat.safe(url()));
        line("supports", capabilities(client));
        line(
                "round trip",
                "median " + LockSelfTest.millis(roundTrips.median()) + ", slowest of " + roundTrips.count() + " "
                        + LockSelfTest.millis(roundTrips.slowest()));
        if (clocks.isEmpty()) {
            line("clock", "not reported by this store");
        }
        clocks.forEach(clock -> line("clock", clock.text()));
        for (Finding finding : findings) {
            out().println();
            out().printf("%-7s  %s%n", finding.severity(), HolderFormat.safe(finding.what()));
            out().printf("%-7s  -> %s%n", "", HolderFormat.safe(finding.remedy()));
        }
        out().println();
        out().println(
                        healthy
                                ? "Nothing was found that endangers locks."
                                : counts(findings) + ": see above, the most severe first.");
    }

    /** Returns the numbers of errors and warnings. */
    private static String counts(List<Finding> findings) {
        return Stream.of(Severity.ERROR, Severity.WARNING)
                .map(severity -> count(findings, severity))
                .filter(count -> !count.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private static String count(List<Finding> findings, Severity severity) {
        long count = findings.stream()
                .filter(finding -> finding.severity() == severity)
                .count();
        String what = severity.name().toLowerCase(Locale.ROOT);
        return count == 0 ? "" : count + " " + what + (count == 1 ? "" : "s");
    }

    private void line(String label, String value) {
        out().printf("%-12s%s%n", label, value);
    }

    private static String capabilities(LockClient client) {
        return String.join(
                " ", client.capabilities().stream().map(Enum::name).sorted().toList());
    }

    private Map<String, Object> json(
            LockClient client,
            LockSelfTest.RoundTrips roundTrips,
            List<ServerClockOffset> clocks,
            List<Finding> findings,
            boolean healthy) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("ok", healthy);
        object.put("url", url());
        object.put(
                "capabilities",
                client.capabilities().stream().map(Enum::name).sorted().toList());
        object.put(
                "roundTripMillis",
                Map.of("median", millis(roundTrips.median()), "slowest", millis(roundTrips.slowest())));
        object.put("clocks", clocks.stream().map(ServerClockOffset::json).toList());
        object.put("findings", findings.stream().map(DoctorCommand::json).toList());
        return object;
    }

    private static double millis(long nanos) {
        return Math.round(nanos / 1e3) / 1e3;
    }

    private static Map<String, Object> json(Finding finding) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("severity", finding.severity().name().toLowerCase(Locale.ROOT));
        object.put("what", finding.what());
        object.put("remedy", finding.remedy());
        return object;
    }
}
