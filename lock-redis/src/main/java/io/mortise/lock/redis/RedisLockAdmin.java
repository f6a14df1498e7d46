// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.admin.AllServerClocksReader;
import io.mortise.lock.redis.admin.LockListing;
import io.mortise.lock.redis.admin.RedisExposureCheck;
import io.mortise.lock.redis.admin.RedisRiskCheck;
import io.mortise.lock.redis.admin.StatusReplyParser;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** Implements the status, listing, forced release and diagnosis of locks on Redis. */
final class RedisLockAdmin implements LockAdmin {
    private final RedisBackend backend;

    RedisLockAdmin(RedisBackend backend) {
        this.backend = backend;
    }

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        RedisKeyLayout.OfLock keys = backend.keysOf(name);
        return backend.connections()
                .nodeOf(keys)
                .execute("status of lock \"" + LockName.shown(name) + "\"", RedisLockScript.STATUS.script(), keys.all())
                .thenApply(status -> new LockStatus(
                        name, StatusReplyParser.holder(status).stream().toList(), StatusReplyParser.waiters(status)))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        List<LockListing.Source> sources = backend.connections().nodes().stream()
                .map(node -> new LockListing.Source(node.id(), node))
                .toList();
        return new LockListing(backend.keys().pattern(), backend.keys()::lockName, (source, name) -> status(name))
                .page(sources, prefix, limit, cursor)
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        RedisKeyLayout.OfLock keys = backend.keysOf(name);
        return backend.connections()
                .nodeOf(keys)
                .execute(
                        "forced release of lock \"" + LockName.shown(name) + "\"",
                        RedisLockScript.FORCE_RELEASE.script(),
                        keys.all(),
                        seen.raw())
                .thenApply(reply -> reply.get(0).equals(1L))
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        Map<String, RedisNodeClient> servers = backend.connections().servers();
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(new ArrayList<>(
                backend.access().map(StoreExposureCheck::findings).orElse(List.of())));
        for (Map.Entry<String, RedisNodeClient> server : servers.entrySet()) {
            CompletionStage<List<Finding>> one = findings(server.getValue());
            // A single server that does not respond fails the diagnosis; one of several becomes a finding.
            all = all.thenCombine(
                    servers.size() == 1 ? one : RedisRiskCheck.named(one, server.getKey()), (found, ofNode) -> {
                        found.addAll(ofNode);
                        return found;
                    });
        }
        if (backend.connections().sentinels().isPresent()) {
            RedisNodeClient master = backend.connections().nodes().get(0);
            all = all.thenCombine(backend.connections().sentinels().get().diagnose(master), (found, ofSentinels) -> {
                found.addAll(ofSentinels);
                return found;
            });
        }
        return all.thenApply(List::copyOf).toCompletableFuture();
    }

    private CompletionStage<List<Finding>> findings(RedisNodeClient node) {
        CompletionStage<List<Finding>> exposure = backend.access()
                        .filter(access -> access.loopback() && !access.restricted())
                        .isPresent()
                ? RedisExposureCheck.exposure(node)
                : CompletableFuture.completedFuture(List.of());
        return RedisRiskCheck.info(node)
                .thenCombine(
                        RedisRiskCheck.fsync(node),
                        (info, fsync) -> info.isEmpty()
                                ? List.of(RedisRiskCheck.hidden())
                                : RedisRiskCheck.ofKeeper(info, fsync, backend.waitReplicas(), backend.isCluster()))
                .thenCombine(
                        exposure,
                        (found, exposed) ->
                                Stream.concat(found.stream(), exposed.stream()).toList());
    }

    @Override
    public CompletableFuture<Map<String, Instant>> clocks() {
        return AllServerClocksReader.of(backend.connections().servers()).toCompletableFuture();
    }
}
