// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.admin;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.admin.RedisRiskCheck;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.redlock.master.RedlockMaster;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Examines the state and configuration of the masters, and reports risks to locks.
 *
 * <p>Missing persistence is not reported: a restarted master stays in quarantine until the votes that it forgot no longer
 * matter.
 */
public final class RedlockRiskCheck {
    private static final String RESTORE_MASTER =
            "wait if it was started recently, else repair it: if one more master fails, no majority may be left";

    private RedlockRiskCheck() {}

    /** Reports an even number of masters, which tolerates no more failures than one master fewer. */
    public static List<Finding> ofMasterCount(int masters) {
        return masters % 2 == 0
                ? List.of(new Finding(
                        Severity.INFO,
                        masters + " masters tolerate no more failures than " + (masters - 1),
                        "use an odd number of masters"))
                : List.of();
    }

    static CompletionStage<List<Finding>> of(RedlockMaster master) {
        if (master.eligibleVoter() == null) {
            return CompletableFuture.completedFuture(List.of(new Finding(
                    Severity.WARNING, master.endpoint() + " does not vote: " + master.whyNotVoting(), RESTORE_MASTER)));
        }
        return RedisRiskCheck.info(master.node())
                .thenApply(info -> ofVoter(info).stream()
                        .map(found ->
                                new Finding(found.severity(), master.endpoint() + ": " + found.what(), found.remedy()))
                        .toList())
                .exceptionally(failure -> List.of(new Finding(
                        Severity.WARNING,
                        master.endpoint() + " does not answer: " + failure.getMessage(),
                        RESTORE_MASTER)));
    }

    private static List<Finding> ofVoter(String info) {
        List<Finding> findings = new ArrayList<>(RedisRiskCheck.ofAny(info));
        boolean hasReplicas = ServerInfo.field(info, "connected_slaves")
                .filter(replicas -> !replicas.equals("0"))
                .isPresent();
        if (hasReplicas) {
            findings.add(
                    new Finding(
                            Severity.WARNING,
                            "it has replicas: a promoted replica may lack votes that clients rely on",
                            "make sure that no failover promotes a replica, or remove the replicas: masters must be independent"));
        }
        return findings;
    }
}
