// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import io.etcd.jetcd.cluster.Member;
import io.etcd.jetcd.maintenance.AlarmType;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.etcd.connection.EtcdClientFactory;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
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

/** Checks an etcd cluster and its members for settings and states that endanger locks. */
public final class EtcdRiskCheck {
    private static final Pattern VERSION = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4}).*");

    private final EtcdRequestSender requests;
    private final EtcdSettings settings;

    EtcdRiskCheck(EtcdRequestSender requests, EtcdSettings settings) {
        this.requests = requests;
        this.settings = settings;
    }

    CompletionStage<List<Finding>> findings() {
        CompletionStage<List<Finding>> ofCluster = requests.members()
                .thenCompose(listed -> members(listed.getMembers()))
                .exceptionallyCompose(EtcdRiskCheck::membersNotListed);
        return requests.alarms().thenCombine(ofCluster, (alarms, found) -> {
            List<Finding> all = new ArrayList<>(alarms(alarms));
            all.addAll(found);
            settings.exposureCheck().ifPresent(access -> all.addAll(access.findings()));
            return all;
        });
    }

    /** Reports that the user may not list the members. Any other failure fails the diagnosis. */
    private static CompletionStage<List<Finding>> membersNotListed(Throwable failure) {
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
                    "the store is out of space: locks can be released, but not acquired",
                    "compact and defragment it, then etcdctl alarm disarm"));
        }
        if (alarms.contains(AlarmType.UNRECOGNIZED)) { // jetcd's name for CORRUPT, the only other alarm of etcd
            findings.add(
                    new Finding(
                            Severity.ERROR,
                            "the alarm CORRUPT is raised: the members have different data and may report different holders",
                            "see etcdctl alarm list; remove the corrupt member and add it again, as etcd's documentation describes"));
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
                        "a cluster of " + voters + " voting members tolerates no more failures than one of "
                                + (voters - 1),
                        "run an odd number of voting members"))
                : List.of();
    }

    /**
     * Checks one member at the address that it announces. A client uses that address, unless it was configured with others.
     */
    private CompletionStage<List<Finding>> member(Member member, boolean hasOtherMembers) {
        Collection<URI> announced = member.getClientURIs();
        if (announced.isEmpty()) {
            return CompletableFuture.completedFuture(List.of(new Finding(
                    Severity.WARNING,
                    "member " + Long.toHexString(member.getId()) + " was added and has never started",
                    "start it, or remove it: it counts as a failed member for the majority")));
        }
        URI endpoint = announced.iterator().next();
        return requests.status(endpoint.getAuthority(), EtcdClientFactory.target(List.of(endpoint.getAuthority())))
                .thenApply(status -> ofMember(
                        endpoint.getAuthority(), status.getVersion(), status.getLeader() != 0, hasOtherMembers))
                .exceptionally(failure -> List.of(new Finding(
                        Severity.WARNING,
                        endpoint.getAuthority() + " does not answer: " + failure.getMessage(),
                        "check this member and the address that it announces (--advertise-client-urls):"
                                + " one more failure may stop all locks")));
    }

    public static List<Finding> ofMember(String endpoint, String version, boolean hasLeader, boolean hasOtherMembers) {
        List<Finding> findings = new ArrayList<>();
        if (!hasLeader) {
            findings.add(new Finding(
                    Severity.WARNING,
                    endpoint + " has no leader",
                    "check this member and its network connection to the others"));
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
                    endpoint + " is etcd " + version
                            + ": members may lose data and differ after a crash (3.5.0 to 3.5.2)",
                    "upgrade to 3.5.13 or newer"));
        }
        boolean mayRevokeLeases = minor < 4 || (minor == 4 && patch < 31) || (minor == 5 && patch < 13);
        if (hasOtherMembers && mayRevokeLeases) {
            findings.add(new Finding(
                    Severity.WARNING,
                    endpoint + " is etcd " + version
                            + ": a replaced leader may revoke valid leases, and so"
                            + " take locks from their holders (etcd issue 15247)",
                    "upgrade to 3.4.31, 3.5.13 or newer"));
        }
        return findings;
    }
}
