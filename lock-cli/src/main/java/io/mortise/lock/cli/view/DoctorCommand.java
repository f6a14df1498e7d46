// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
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

/** The command {@code lockctl doctor}: findings that endanger locks. */
@Command(
        name = "doctor",
        header = "Looks whether the store is fit for locks, and says what to do.",
        description = {
            "Connects, takes and releases a lock of its own, measures round trips, compares clocks where the store tells its own,"
                    + " and looks for what endangers locks: eviction, what a restart forgets, replicas that grants do not wait"
                    + " for, single or even numbers of servers, servers that are down, versions with known bugs, open doors.",
            "It sees what the store tells this user. What it cannot see, such as fsync on ZooKeeper and etcd, or who may stop the"
                    + " machines, it does not judge.",
            "A finding is an ERROR (locks cannot be taken, or can be lost without a fault), a WARNING (a fault, or others, can take"
                    + " locks away) or an INFO. Exits with 1 if there is a warning or an error, with --fail-on=error only if there is"
                    + " an error, else with 0."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl doctor --url redis://localhost:6379",
            "  lockctl doctor --fail-on=error || page-somebody",
            "  lockctl doctor --json | jq -r '.findings[] | .severity + \" \" + .what'"
        })
public final class DoctorCommand extends AdminCommand {
    @Option(
            names = "--fail-on",
            paramLabel = "SEVERITY",
            description =
                    "What makes it exit with 1 at least: ${COMPLETION-CANDIDATES}; ${DEFAULT-VALUE} unless said otherwise.")
    private SeverityThreshold failOn = SeverityThreshold.warning;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        LockSelfTest.Times times = LockSelfTest.roundTrips(admin);
        List<ServerClockOffset> clocks = ServerClockOffset.measure(admin);
        List<Finding> findings = new ArrayList<>(await(admin.diagnose()));
        LockSelfTest.takesALock(client).ifPresent(findings::add);
        clocks.forEach(clock -> clock.finding().ifPresent(findings::add));
        findings.sort(Comparator.comparing(Finding::severity).reversed());
        boolean well = findings.stream().allMatch(finding -> finding.severity() == Severity.INFO);
        if (invocation().json()) {
            out().println(JsonText.of(json(client, times, clocks, findings, well)));
        } else {
            print(client, times, clocks, findings, well);
        }
        boolean fails = findings.stream().anyMatch(finding -> finding.severity().compareTo(failOn.least) >= 0);
        return fails ? ExitCodes.FAILED : ExitCodes.OK;
    }

    private String url() {
        return LockUrl.parse(invocation().url()).toString(); // without secrets
    }

    private void print(
            LockClient client,
            LockSelfTest.Times times,
            List<ServerClockOffset> clocks,
            List<Finding> findings,
            boolean well) {
        line("store", HolderFormat.safe(url()));
        line("promises", promises(client));
        line(
                "round trip",
                "median " + LockSelfTest.millis(times.median()) + ", slowest of " + times.count() + " "
                        + LockSelfTest.millis(times.slowest()));
        if (clocks.isEmpty()) {
            line("clock", "not told by this store");
        }
        clocks.forEach(clock -> line("clock", clock.text()));
        for (Finding finding : findings) {
            out().println();
            out().printf("%-7s  %s%n", finding.severity(), HolderFormat.safe(finding.what()));
            out().printf("%-7s  -> %s%n", "", HolderFormat.safe(finding.remedy()));
        }
        out().println();
        out().println(
                        well
                                ? "Nothing was found that endangers locks."
                                : counts(findings) + ": see above, the worst first.");
    }

    /** Of all that is worse than INFO. */
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

    private static String promises(LockClient client) {
        return String.join(
                " ", client.capabilities().stream().map(Enum::name).sorted().toList());
    }

    private Map<String, Object> json(
            LockClient client,
            LockSelfTest.Times times,
            List<ServerClockOffset> clocks,
            List<Finding> findings,
            boolean well) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("ok", well);
        object.put("url", url());
        object.put(
                "capabilities",
                client.capabilities().stream().map(Enum::name).sorted().toList());
        object.put("roundTripMillis", Map.of("median", millis(times.median()), "slowest", millis(times.slowest())));
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
