// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.node.Diagnosis;
import io.mortise.lock.redis.node.LockListing;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.StoredGrant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The operator's view: reads keys and queues as they stand. */
final class RedisAdmin implements LockAdmin {
    private final RedisBackend backend;

    RedisAdmin(RedisBackend backend) {
        this.backend = backend;
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        RedisKeys.OfLock keys = backend.keysOf(name);
        return backend.link()
                .nodeOf(keys)
                .ask("status of lock \"" + name + "\"", RedisScript.STATUS.script(), keys.all())
                .thenApply(status -> new LockStatus(
                        name, StoredGrant.holder(status).stream().toList(), StoredGrant.waiters(status)));
    }

    @Override
    public CompletionStage<Page> list(String prefix, int limit, Optional<String> cursor) {
        List<LockListing.Source> sources = backend.link().nodes().stream()
                .map(node -> new LockListing.Source(node.id(), node))
                .toList();
        return new LockListing(backend.keys().pattern(), backend.keys()::lockName, (source, name) -> status(name))
                .page(sources, prefix, limit, cursor);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, LockHolder seen) {
        RedisKeys.OfLock keys = backend.keysOf(name);
        return backend.link()
                .nodeOf(keys)
                .ask(
                        "forced release of lock \"" + name + "\"",
                        RedisScript.FORCE_RELEASE.script(),
                        keys.all(),
                        seen.raw())
                .thenApply(answer -> answer.get(0).equals(1L));
    }

    @Override
    public CompletionStage<List<Finding>> diagnose() {
        CompletionStage<Set<Finding>> all = CompletableFuture.completedFuture(new LinkedHashSet<>());
        for (RedisNode node : backend.link().nodes()) {
            all = all.thenCombine(node.ask("diagnosis", commands -> commands.info()), (found, info) -> {
                found.addAll(Diagnosis.findings(info));
                return found;
            });
        }
        return all.thenApply(List::copyOf);
    }
}
