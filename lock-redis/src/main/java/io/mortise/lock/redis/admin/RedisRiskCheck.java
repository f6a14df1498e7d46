// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.redis.node.ServerInfo;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Finds settings and states of a server that endanger locks. */
public final class RedisRiskCheck {
    private static final String FSYNC = "appendfsync";

    private final String info;
    private final List<Finding> findings = new ArrayList<>();

    private RedisRiskCheck(String info) {
        this.info = info;
    }

    /**
     * What stops or endangers locks on any server, of what INFO says: eviction, memory, writes that it refuses, that it is a
     * replica.
     */
    public static List<Finding> ofAny(String info) {
        RedisRiskCheck diagnosis = new RedisRiskCheck(info);
        diagnosis.replica();
        diagnosis.eviction();
        diagnosis.memory();
        diagnosis.refusedWrites();
        return diagnosis.findings;
    }

    /**
     * That, and what lets one server, or one that has replicas, forget a grant.
     *
     * @param fsync its setting {@code appendfsync}, if it tells
     * @param waitReplicas how many replicas each grant waits for
     * @param inCluster whether the client knows that it talks to a cluster
     */
    public static List<Finding> ofKeeper(String info, Optional<String> fsync, int waitReplicas, boolean inCluster) {
        RedisRiskCheck diagnosis = new RedisRiskCheck(info);
        diagnosis.findings.addAll(ofAny(info));
        if (!inCluster && diagnosis.says("redis_mode", "cluster")) {
            diagnosis.add(
                    Severity.ERROR,
                    "this server is a node of a cluster: it refuses locks of the slots of others",
                    "use redis-cluster://");
        }
        diagnosis.persistence(fsync);
        if (diagnosis.says("role", "master")) {
            diagnosis.replicas(waitReplicas);
        }
        return diagnosis.findings;
    }

    /** What INFO says; empty if it is not allowed. */
    public static CompletionStage<String> info(RedisNodeClient node) {
        return node.<String>ask("diagnosis", commands -> commands.info())
                .exceptionallyCompose(failure -> failure instanceof BackendRefusedException
                                || failure.getCause() instanceof BackendRefusedException
                        ? CompletableFuture.completedFuture("")
                        : CompletableFuture.failedFuture(failure));
    }

    /** Nothing can be told without INFO. */
    public static Finding hidden() {
        return new Finding(
                Severity.INFO,
                "what endangers locks is not known: INFO is not allowed",
                "let this user call INFO, or ask who runs the server for eviction, appendfsync and replicas");
    }

    /** Of one server among several: a finding says which, and one that does not answer is one. */
    public static CompletionStage<List<Finding>> named(CompletionStage<List<Finding>> findings, String endpoint) {
        return findings.handle((found, failure) -> failure == null
                ? found.stream()
                        .map(one -> new Finding(one.severity(), endpoint + ": " + one.what(), one.remedy()))
                        .toList()
                : List.of(new Finding(
                        Severity.ERROR,
                        endpoint + " does not answer: " + failure.getMessage(),
                        "see to this server: its locks can be neither taken nor released")));
    }

    /** The setting; empty where CONFIG is not allowed, as on many a hosted server. */
    public static CompletionStage<Optional<String>> fsync(RedisNodeClient node) {
        return node.<Map<String, String>>ask("diagnosis", commands -> commands.configGet(FSYNC))
                .thenApply(settings -> Optional.ofNullable(settings.get(FSYNC)))
                .exceptionallyCompose(forbidden -> CompletableFuture.completedFuture(Optional.empty()));
    }

    private boolean says(String field, String value) {
        return ServerInfo.field(info, field).filter(value::equals).isPresent();
    }

    private long number(String field) {
        return ServerInfo.field(info, field)
                .filter(text -> text.matches("\\d{1,18}"))
                .map(Long::parseLong)
                .orElse(0L);
    }

    private void add(Severity severity, String what, String remedy) {
        findings.add(new Finding(severity, what, remedy));
    }

    private void replica() {
        if (says("role", "slave")) {
            add(
                    Severity.ERROR,
                    "this server is a replica: it refuses every acquire",
                    "name the master, or let sentinels name it: redis-sentinel://");
        }
    }

    private void eviction() {
        EvictionCheck.endangers(info)
                .ifPresent(policy -> add(
                        Severity.WARNING,
                        "maxmemory-policy is " + policy + ": locks may be evicted when the memory is full",
                        "set maxmemory-policy noeviction, or use a Redis of its own for locks"));
    }

    private void memory() {
        long most = number("maxmemory");
        if (most > 0
                && number("used_memory") >= most
                && EvictionCheck.endangers(info).isEmpty()) {
            add(
                    Severity.ERROR,
                    "the memory is full: locks can be released, and none acquired",
                    "raise maxmemory, or use a Redis of its own for locks");
        }
    }

    private void refusedWrites() {
        if (says("aof_last_write_status", "err")) {
            add(
                    Severity.ERROR,
                    "the append-only file cannot be written: the server refuses every acquire",
                    "read the server's log; most often the disk is full");
        }
        if (says("rdb_last_bgsave_status", "err")) {
            add(
                    Severity.WARNING,
                    "the last snapshot failed: with stop-writes-on-bgsave-error the server refuses every acquire",
                    "read the server's log; most often the disk is full");
        }
    }

    private void persistence(Optional<String> fsync) {
        if (says("aof_enabled", "0")) {
            add(
                    Severity.WARNING,
                    "the append-only file is off: a restart forgets who holds what",
                    "set appendonly yes and appendfsync always, or keep a restarted server away for one lease");
        } else if (says("aof_enabled", "1")) {
            fsync.filter(setting -> !setting.equals("always"))
                    .ifPresent(setting -> add(
                            Severity.WARNING,
                            "appendfsync is " + setting + ": a crash of its machine forgets the last "
                                    + (setting.equals("everysec") ? "second" : "half a minute or so") + " of grants",
                            "set appendfsync always, or keep a machine that crashed away for one lease"));
            if (fsync.isEmpty()) {
                add(
                        Severity.INFO,
                        "appendfsync is not known: CONFIG GET is not allowed",
                        "make sure that it is always, or that fencing tokens are checked");
            }
        }
    }

    private void replicas(int waitReplicas) {
        long connected = number("connected_slaves");
        if (connected < waitReplicas) {
            add(
                    Severity.ERROR,
                    "waitReplicas is " + waitReplicas + ", and of replicas " + connected
                            + " are connected: no lock can be acquired",
                    "bring the replicas back");
        } else if (connected > waitReplicas) {
            add(
                    Severity.WARNING,
                    "of replicas " + connected + " are connected, and grants wait for " + waitReplicas
                            + ": a failover may forget who holds what",
                    "set waitReplicas=" + connected + " in the URL, or check fencing tokens");
            // Shown only where it is set.
            if (waitReplicas == 0
                    && ServerInfo.field(info, "min_slaves_good_slaves").isEmpty()) {
                add(
                        Severity.WARNING,
                        "min-replicas-to-write is 0: a master that is cut off goes on granting locks beside the new one",
                        "set min-replicas-to-write 1 and min-replicas-max-lag to less than the lease");
            }
        }
    }
}
