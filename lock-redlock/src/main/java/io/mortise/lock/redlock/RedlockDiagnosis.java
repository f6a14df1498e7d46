// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.ServerDiagnosis;
import io.mortise.lock.redis.node.ServerInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What of the masters endangers locks. What they keep over a restart does not: they have no vote until it does not matter. */
final class RedlockDiagnosis {
    private static final String ONE_TOO_MANY =
            "wait if it has only just been started, else see to it: one more that fails may be one too many";

    private RedlockDiagnosis() {}

    static List<Finding> number(int masters) {
        return masters % 2 == 0
                ? List.of(new Finding(
                        Severity.INFO,
                        masters + " masters: no more of them may fail than of " + (masters - 1),
                        "use an odd number of masters"))
                : List.of();
    }

    static CompletionStage<List<Finding>> of(Master master) {
        if (master.electable() == null) {
            return CompletableFuture.completedFuture(List.of(new Finding(
                    Severity.WARNING, master.endpoint() + " does not vote: " + master.why(), ONE_TOO_MANY)));
        }
        return ServerDiagnosis.info(master.node())
                .thenApply(info -> ofVoter(info).stream()
                        .map(found ->
                                new Finding(found.severity(), master.endpoint() + ": " + found.what(), found.remedy()))
                        .toList())
                .exceptionally(failure -> List.of(new Finding(
                        Severity.WARNING,
                        master.endpoint() + " does not answer: " + failure.getMessage(),
                        ONE_TOO_MANY)));
    }

    private static List<Finding> ofVoter(String info) {
        List<Finding> findings = new ArrayList<>(ServerDiagnosis.ofAny(info));
        boolean hasReplicas = ServerInfo.field(info, "connected_slaves")
                .filter(replicas -> !replicas.equals("0"))
                .isPresent();
        if (hasReplicas) {
            findings.add(new Finding(
                    Severity.WARNING,
                    "it has replicas: one that takes its place would forget votes that others count on",
                    "make sure that no failover promotes a replica, or take them away: masters must be independent"));
        }
        return findings;
    }
}
