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

/** Finds settings and states of a Redis server that endanger its locks. */
public final class RedisRiskCheck {
    private static final String FSYNC = "appendfsync";

    private final String info;
    private final List<Finding> findings = new ArrayList<>();

    private RedisRiskCheck(String info) {
        this.info = info;
    }

    /**
     * Returns what endangers or prevents locks on any server, such as eviction, full memory, refused writes, or being a
     * replica.
     *
     * @param info the server's reply to INFO
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
     * Returns the findings of {@link #ofAny} and those that can make a server, with or without replicas, forget a grant.
     *
     * @param info the server's reply to INFO
     * @param fsync the server's setting {@code appendfsync}, if it is known
     * @param waitReplicas how many replicas each grant waits for
     * @param inCluster whether the client is configured for a cluster
     */
    public static List<Finding> ofKeeper(String info, Optional<String> fsync, int waitReplicas, boolean inCluster) {
        RedisRiskCheck diagnosis = new RedisRiskCheck(info);
        diagnosis.findings.addAll(ofAny(info));
        if (!inCluster && diagnosis.has("redis_mode", "cluster")) {
            diagnosis.add(
                    Severity.ERROR,
                    "this server is a node of a cluster: it refuses locks whose slots belong to other nodes",
                    "use redis-cluster://");
        }
        diagnosis.persistence(fsync);
        if (diagnosis.has("role", "master")) {
            diagnosis.replicas(waitReplicas);
        }
        return diagnosis.findings;
    }

    /** Returns the server's reply to INFO; empty if INFO is not allowed. */
    public static CompletionStage<String> info(RedisNodeClient node) {
        return node.<String>execute("diagnosis", commands -> commands.info())
                .exceptionallyCompose(failure -> failure instanceof BackendRefusedException
                                || failure.getCause() instanceof BackendRefusedException
                        ? CompletableFuture.completedFuture("")
                        : CompletableFuture.failedFuture(failure));
    }

    /** Returns the finding that INFO is not allowed, so that risks cannot be found. */
    public static Finding hidden() {
        return new Finding(
                Severity.INFO,
                "what endangers locks is not known: INFO is not allowed",
                "let this user call INFO, or ask the server's operator about eviction, appendfsync and replicas");
    }

    /**
     * Adds a server's address to its findings, for one server among several. A server that does not respond becomes a finding.
     */
    public static CompletionStage<List<Finding>> named(CompletionStage<List<Finding>> findings, String endpoint) {
        return findings.handle((found, failure) -> failure == null
                ? found.stream()
                        .map(one -> new Finding(one.severity(), endpoint + ": " + one.what(), one.remedy()))
                        .toList()
                : List.of(new Finding(
                        Severity.ERROR,
                        endpoint + " does not respond: " + failure.getMessage(),
                        "check this server: its locks can be neither acquired nor released")));
    }

    /** Returns the setting {@code appendfsync}; empty if CONFIG is not allowed, as on many hosted servers. */
    public static CompletionStage<Optional<String>> fsync(RedisNodeClient node) {
        return node.<Map<String, String>>execute("diagnosis", commands -> commands.configGet(FSYNC))
                .thenApply(settings -> Optional.ofNullable(settings.get(FSYNC)))
                .exceptionallyCompose(forbidden -> CompletableFuture.completedFuture(Optional.empty()));
    }

    private boolean has(String field, String value) {
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
        if (has("role", "slave")) {
            add(
                    Severity.ERROR,
                    "this server is a replica: it refuses every acquire",
                    "name the master, or let sentinels name it: redis-sentinel://");
        }
    }

    private void eviction() {
        EvictionCheck.dangerousPolicy(info)
                .ifPresent(policy -> add(
                        Severity.WARNING,
                        "maxmemory-policy is " + policy + ": locks may be evicted when the memory is full",
                        "set maxmemory-policy noeviction, or use a separate Redis for locks"));
    }

    private void memory() {
        long limit = number("maxmemory");
        if (limit > 0
                && number("used_memory") >= limit
                && EvictionCheck.dangerousPolicy(info).isEmpty()) {
            add(
                    Severity.ERROR,
                    "the memory is full: locks can be released, but none acquired",
                    "raise maxmemory, or use a separate Redis for locks");
        }
    }

    private void refusedWrites() {
        if (has("aof_last_write_status", "err")) {
            add(
                    Severity.ERROR,
                    "the append-only file cannot be written: the server refuses every acquire",
                    "read the server's log; most often the disk is full");
        }
        if (has("rdb_last_bgsave_status", "err")) {
            add(
                    Severity.WARNING,
                    "the last snapshot failed: with stop-writes-on-bgsave-error the server refuses every acquire",
                    "read the server's log; most often the disk is full");
        }
    }

    private void persistence(Optional<String> fsync) {
        if (has("aof_enabled", "0")) {
            add(
                    Severity.WARNING,
                    "the append-only file is off: after a restart the server has forgotten all grants",
                    "set appendonly yes and appendfsync always, or start a stopped server only after one lease");
        } else if (has("aof_enabled", "1")) {
            fsync.filter(setting -> !setting.equals("always"))
                    .ifPresent(setting -> add(
                            Severity.WARNING,
                            "appendfsync is " + setting
                                    + ": if its machine crashes, the server forgets the grants of the last "
                                    + (setting.equals("everysec") ? "second" : "half minute or so"),
                            "set appendfsync always, or start a machine that crashed only after one lease"));
            if (fsync.isEmpty()) {
                add(
                        Severity.INFO,
                        "appendfsync is not known: CONFIG GET is not allowed",
                        "make sure that appendfsync is always, or that fencing tokens are checked");
            }
        }
    }

    private void replicas(int waitReplicas) {
        long connected = number("connected_slaves");
        if (connected < waitReplicas) {
            add(
                    Severity.ERROR,
                    "waitReplicas is " + waitReplicas + ", but the number of connected replicas is " + connected
                            + ": no lock can be acquired",
                    "bring the replicas back");
        } else if (connected > waitReplicas) {
            add(
                    Severity.WARNING,
                    "the number of connected replicas is " + connected + ", but grants wait for " + waitReplicas
                            + ": a failover may lose grants",
                    "set waitReplicas=" + connected + " in the URL, or check fencing tokens");
            if (waitReplicas > 0) {
                return;
            }
            if (majorVersion() < 7) { // redis/redis#9993
                continuesToGrant(
                        "Redis before 7 does not apply min-replicas-to-write to scripts",
                        "use Redis 7 or newer, or set waitReplicas");
            } else if (ServerInfo.field(info, "min_slaves_good_slaves").isEmpty()) {
                // INFO contains this field only if min-replicas-to-write is set.
                continuesToGrant(
                        "min-replicas-to-write is 0",
                        "set min-replicas-to-write 1 and min-replicas-max-lag to less than the lease");
            }
        }
    }

    private void continuesToGrant(String because, String advice) {
        add(
                Severity.WARNING,
                because + ": a master that is cut off continues to grant locks, as the new one does",
                advice);
    }

    /** Returns the major version of Redis, or the one that another server claims to be compatible with; the latest if it is unknown. */
    private int majorVersion() {
        return ServerInfo.field(info, "redis_version")
                .map(version -> version.split("\\.", 2)[0])
                .filter(major -> major.matches("[0-9]{1,4}"))
                .map(Integer::parseInt)
                .orElse(Integer.MAX_VALUE);
    }
}
