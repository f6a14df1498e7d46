// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.maintenance.AlarmType;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.etcd.connection.EtcdClientFactory;
import io.mortise.lock.etcd.connection.EtcdRequests;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.mortise.lock.spi.support.StageFailures;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds settings and states of a cluster and its members that endanger locks. */
public final class EtcdRiskCheck {
    private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4}).*");

    private final EtcdRequests calls;
    private final EtcdSettings settings;

    EtcdRiskCheck(EtcdRequests calls, EtcdSettings settings) {
        this.calls = calls;
        this.settings = settings;
    }

    CompletionStage<List<Finding>> findings() {
        CompletionStage<List<Finding>> ofCluster = calls.members()
                .thenCompose(listed -> members(listed.getMembers()))
                .exceptionallyCompose(EtcdRiskCheck::unlisted);
        return calls.alarms().thenCombine(ofCluster, (alarms, found) -> {
            List<Finding> all = new ArrayList<>(alarms(alarms));
            all.addAll(found);
            settings.accessCheck().ifPresent(access -> all.addAll(access.findings()));
            return all;
        });
    }

    /** A user need not be allowed to list members; if nobody answers there is no diagnosis. */
    private static CompletionStage<List<Finding>> unlisted(Throwable failure) {
        Throwable cause = StageFailures.unwrap(failure);
        if (!(cause instanceof BackendRefusedException)) {
            return CompletableFuture.failedFuture(cause);
        }
        return CompletableFuture.completedFuture(List.of(new Finding(
                Severity.INFO,
                "the members of the cluster are not known: " + cause.getMessage(),
                "let this user list them, or run: etcdctl member list")));
    }

    static List<Finding> alarms(Set<AlarmType> alarms) {
        List<Finding> findings = new ArrayList<>();
        if (alarms.contains(AlarmType.NOSPACE)) {
            findings.add(new Finding(
                    Severity.ERROR,
                    "the store is out of space: locks can be released, and none acquired",
                    "compact and defragment it, then etcdctl alarm disarm"));
        }
        if (alarms.contains(AlarmType.UNRECOGNIZED)) { // as jetcd reads CORRUPT, the only other that etcd has
            findings.add(new Finding(
                    Severity.ERROR,
                    "the alarm CORRUPT is raised: the members have different data, and may name different holders",
                    "see etcdctl alarm list; remove the corrupt member and add it anew, as etcd's documentation says"));
        }
        return findings;
    }

    private CompletionStage<List<Finding>> members(List<Member> members) {
        long voters = members.stream().filter(member -> !member.isLearner()).count();
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(new ArrayList<>(size(voters)));
        for (Member member : members) {
            all = all.thenCombine(member(member, members.size() > 1), (found, ofMember) -> {
                found.addAll(ofMember);
                return found;
            });
        }
        return all;
    }

    static List<Finding> size(long voters) {
        if (voters < 3) {
            return List.of(new Finding(
                    Severity.WARNING,
                    voters == 1 ? "a single server" : "a cluster of " + voters + " voting members",
                    "run three or more: with fewer, one failure stops all locks"));
        }
        return voters % 2 == 0
                ? List.of(new Finding(
                        Severity.INFO,
                        "a cluster of " + voters + " voting members: no more of them may fail than of " + (voters - 1),
                        "run an odd number of voting members"))
                : List.of();
    }

    /** As it announces itself: a client reaches it there, unless it was told other addresses. */
    private CompletionStage<List<Finding>> member(Member member, boolean amongOthers) {
        Collection<URI> announced = member.getClientURIs();
        if (announced.isEmpty()) {
            return CompletableFuture.completedFuture(List.of(new Finding(
                    Severity.WARNING,
                    "member " + Long.toHexString(member.getId()) + " was added and has never started",
                    "start it, or remove it: it counts for the majority as one that is down")));
        }
        URI at = announced.iterator().next();
        return calls.status(at.getAuthority(), EtcdClientFactory.target(List.of(at.getAuthority())))
                .thenApply(status ->
                        ofMember(at.getAuthority(), status.getVersion(), status.getLeader() != 0, amongOthers))
                .exceptionally(failure -> List.of(new Finding(
                        Severity.WARNING,
                        at.getAuthority() + " does not answer: " + failure.getMessage(),
                        "see to this member, or to the address that it announces (--advertise-client-urls):"
                                + " one more that fails may be one too many")));
    }

    public static List<Finding> ofMember(String at, String version, boolean hasLeader, boolean amongOthers) {
        List<Finding> findings = new ArrayList<>();
        if (!hasLeader) {
            findings.add(new Finding(
                    Severity.WARNING, at + " has no leader", "see to this member and its way to the others"));
        }
        Matcher parts = VERSION.matcher(version);
        if (!parts.matches() || !parts.group(1).equals("3")) {
            return findings;
        }
        int minor = Integer.parseInt(parts.group(2));
        int patch = Integer.parseInt(parts.group(3));
        if (minor == 5 && patch < 3) {
            findings.add(new Finding(
                    Severity.ERROR,
                    at + " is etcd " + version + ": members may lose data and differ after a crash (3.5.0 to 3.5.2)",
                    "upgrade to 3.5.13 or newer"));
        }
        boolean revokes = minor < 4 || (minor == 4 && patch < 31) || (minor == 5 && patch < 13);
        if (amongOthers && revokes) {
            findings.add(new Finding(
                    Severity.WARNING,
                    at + " is etcd " + version
                            + ": a leader that was replaced may revoke leases that are alive, and with"
                            + " them take locks from their holders (etcd issue 15247)",
                    "upgrade to 3.4.31, 3.5.13 or newer"));
        }
        return findings;
    }
}
