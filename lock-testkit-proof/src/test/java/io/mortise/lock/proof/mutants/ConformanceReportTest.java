// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.proof.mutants;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.proof.MemoryBackendUnderTest;
import io.mortise.lock.proof.MemoryLink;
import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import io.mortise.lock.testkit.report.ConformanceMatrix;
import io.mortise.lock.testkit.report.ConformanceReportSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import tools.jackson.jr.ob.JSON;

/** Tests the report of the conformance kit on backends that keep the rules, break them, and hide what they do. */
@Tag("once")
@ResourceLock(Resources.SYSTEM_OUT)
class ConformanceReportTest {
    @TempDir
    private Path folder = Path.of("");

    private Path report() {
        return folder.resolve(ConformanceReportSettings.DEFAULT_DIRECTORY);
    }

    @Test
    void aRunWithoutFailuresOrOpenHolesIsKept() throws Exception {
        ReportedRun run = run(
                MutantConformance.class, "", ReportedRun.TESTS, Map.of("mortise.kit.accept", ReportedRun.ALL_RULES));
        assertThat(run.failures()).isEmpty();
        Map<String, Object> backend = backend();
        assertThat(backend).containsEntry("verdict", "kept").containsEntry("description", "lock-memory");
        Map<String, Object> report = list(backend.get("classes")).get(0);
        assertThat(map(report.get("backend")))
                .containsEntry("leaseMillis", 4000)
                .containsEntry(
                        "hooks", List.of("LINK", "EXPIRE_SESSION", "DELETE_GRANT", "STOP_SERVER", "REQUESTS", "ADMIN"));
        assertThat(map(report.get("timings"))).containsKeys("acquire", "release", "takeover", "notice");
        assertThat(list(report.get("hookChecks")))
                .singleElement()
                .satisfies(check -> assertThat(check)
                        .containsEntry("fault", "silence")
                        .containsEntry("confirmed", 1)
                        .containsEntry("contradicted", 0));
        assertThat(page())
                .contains(
                        "<strong>kept</strong>",
                        "prefers-color-scheme: dark",
                        "Beyond the kit",
                        "not part of this run (accepted)")
                .doesNotContain("http", "<script", "<link", "url(", "src=");
    }

    @Test
    void theConsoleEndsWithFiveLines() throws Exception {
        ReportedRun run = run(MutantConformance.class, "", ReportedRun.TESTS, Map.of());
        List<String> lines = run.console().lines().toList();
        assertThat(lines).hasSize(5);
        assertThat(lines.get(0)).isEqualTo("Conformance of lock-memory: NOT LOOKED AT");
        assertThat(lines.get(1)).contains("checked: 3 of ", "failed: 0");
        assertThat(lines.get(2)).endsWith("broken:  none");
        assertThat(lines.get(3)).contains("holes:   ", "tests of S1 ");
        assertThat(lines.get(4)).endsWith(report().resolve("report.html").toString());
    }

    @Test
    void aFailureShowsItsRuleItsPictureAndItsEvents() throws Exception {
        ReportedRun run = run(MutantConformance.class, ReportedRun.BROKEN_MUTANT, ReportedRun.TESTS, Map.of());
        assertThat(run.console()).contains(": BROKEN", "broken:  S2 Honest isHeld (1)");
        assertThat(backend()).containsEntry("verdict", "broken");
        assertThat(map(backend().get("rules"))).containsEntry("S2", "broken").containsEntry("S19", "not looked at");
        assertThat(page())
                .contains("<strong>broken</strong>", "Probably: a holder that considers its lease valid")
                .contains("class=\"fault\"", "<title>silence</title>", "class=\"violation\"", "class=\"waits\"")
                .contains("client 1 · x", "client 2 is granted &quot;x&quot;: token 3");
        Throwable failure = run.failures().get(0);
        assertThat(failure).hasMessageContaining("S02: two leases are held");
        assertThat(failure.getSuppressed())
                .singleElement()
                .satisfies(events -> assertThat(events.getMessage())
                        .startsWith("what happened in this test:")
                        .contains("client 1 FAULT: silence", "client 2 is granted \"x\""));
        assertThat(failure.getStackTrace())
                .extracting(StackTraceElement::getMethodName)
                .contains(ReportedRun.SILENT_HOLDER);
        assertThat(failure.getStackTrace())
                .extracting(StackTraceElement::getClassName)
                .noneMatch(name -> name.startsWith("org.junit") || name.startsWith("org.assertj"));
    }

    @Test
    void aStrictRunFailsOnHolesThatAreNotAcceptedByName() throws Exception {
        List<String> tests = List.of("S01_clientsExcludeEachOther", "S12_aKilledWaiterIsSkipped");
        ReportedRun refused = run(MutantConformance.class, "", tests, Map.of("mortise.kit.strict", "true"));
        assertThat(refused.failures())
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .hasMessageContaining("strict run: holes that mortise.kit.accept does not name")
                        .hasMessageContaining("BackendUnderTest.url (1 tests of S12)"));
        String allButS12 = ReportedRun.ALL_RULES.replace("S12,", "");
        for (String name : List.of("url", "S12", "s12_akilledWaiterIsSkipped")) {
            ReportedRun accepted = run(
                    MutantConformance.class,
                    "",
                    tests,
                    Map.of("mortise.kit.strict", "true", "mortise.kit.accept", allButS12 + "," + name));
            assertThat(accepted.failures())
                    .as("accepting %s", name)
                    .allSatisfy(failure -> assertThat(failure).hasMessageNotContaining("BackendUnderTest.url"));
        }
    }

    @Test
    void aHookWithoutEffectIsNoticed() throws Exception {
        ReportedRun run = run(
                IdleHooks.class,
                "",
                List.of(
                        "S07_aRenewalWithoutAReplyIsNoLoss",
                        "S02_theDeadlineCountsFromTheSendAndASlowLinkLosesNoLease"),
                Map.of("mortise.kit.strict", "true", "mortise.kit.accept", ReportedRun.ALL_RULES));
        assertThat(run.console()).contains("hook without effect: cut");
        assertThat(run.failures())
                .extracting(Throwable::getMessage)
                .anyMatch(message -> message.contains("strict run: the hook for cut has no effect"))
                .anyMatch(message -> message.contains("was answered by the store during the fault"));
        assertThat(page()).contains("no effect");
    }

    @Test
    @Tag("long")
    void aLostReplyIsConfirmedByARequestWithoutAReply() throws Exception {
        List<String> tests = List.of(
                "S08_theCleanupOfALostReplySparesTheGrantThatFollows", "S07_renewalsContinueAfterAFaultHasHealed");
        assertThat(run(MutantConformance.class, "", tests, Map.of()).console()).doesNotContain("hook without effect");
        assertThat(run(IdleHooks.class, "", tests, Map.of()).console()).contains("hook without effect: dropNextReply");
    }

    @Test
    void theMatrixHasOneColumnForEachBackend() throws Exception {
        run(MutantConformance.class, ReportedRun.BROKEN_MUTANT, ReportedRun.TESTS, Map.of());
        run(IdleHooks.class, "", List.of("S01_clientsExcludeEachOther"), Map.of());
        String printed = ReportedRun.printed(() -> ConformanceMatrix.main(new String[] {folder.toString()}));
        assertThat(printed)
                .contains("| | hooks that do nothing | lock-memory |")
                .contains("| **verdict** | **not looked at** | **broken** |")
                .containsPattern("\\| S2 \\| not looked at \\(0/\\d+\\) \\| broken \\(1/\\d+\\) \\|")
                .contains(report().resolve("matrix.html").toString());
        assertThat(report().resolve("matrix.html")).content().contains("hooks that do nothing");
    }

    @Test
    void aBackendWithoutAdminAndHooksFailsNoTest() throws Exception {
        ReportedRun run = run(
                NoHooks.class,
                "",
                List.of(
                        "call_reportsALossDuringTheBody",
                        "S07_aRemovalWhileABodyRunsIsThrown",
                        "S01_randomOperationsAgreeWithTheModel"),
                Map.of());
        assertThat(run.failures()).isEmpty();
        assertThat(run.console()).contains("checked: 1 of ", "failed: 0");
    }

    /** A backend that can only be opened. */
    static class NoHooks extends LockConformance {
        @Override
        protected BackendUnderTest backend() {
            MemoryStore store = MemoryStore.create();
            return options -> new ForwardingClient(MemoryLocks.connect(store, options)) {
                @Override
                public Set<Capability> capabilities() {
                    Set<Capability> fewer = EnumSet.copyOf(super.capabilities());
                    fewer.removeAll(Set.of(Capability.HOLDER_INFO, Capability.LIST));
                    return fewer;
                }

                @Override
                public Optional<LockAdmin> admin() {
                    return Optional.empty();
                }
            };
        }
    }

    /** A backend whose link ignores every fault. */
    static class IdleHooks extends LockConformance {
        @Override
        protected BackendUnderTest backend() {
            return new MemoryBackendUnderTest() {
                @Override
                public String description() {
                    return "hooks that do nothing";
                }

                @Override
                protected LockClient connect(MemoryLink link, ClientOptions options) {
                    return MemoryLocks.connect(store, options, store.newClientFaults()); // not those of the link
                }
            };
        }
    }

    private ReportedRun run(Class<?> testClass, String mutant, List<String> tests, Map<String, String> settings)
            throws Exception {
        return ReportedRun.of(report(), testClass, mutant, tests, settings);
    }

    private String page() throws IOException {
        return Files.readString(report().resolve("report.html"));
    }

    private Map<String, Object> backend() throws IOException {
        Map<String, Object> json = JSON.std.mapFrom(Files.readString(report().resolve("report.json")));
        List<Map<String, Object>> backends = list(json.get("backends"));
        assertThat(backends).hasSize(1);
        return backends.get(0);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> map(@Nullable Object json) {
        return (Map<String, Object>) Objects.requireNonNull(json);
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> list(@Nullable Object json) {
        return (List<Map<String, Object>>) Objects.requireNonNull(json);
    }
}
