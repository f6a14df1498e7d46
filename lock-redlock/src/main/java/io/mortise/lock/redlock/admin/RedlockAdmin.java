// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.admin;

import io.lettuce.core.ScriptOutputType;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.admin.AllServerClocksReader;
import io.mortise.lock.redis.admin.LockListing;
import io.mortise.lock.redis.admin.StatusReplyParser;
import io.mortise.lock.redis.script.LuaScript;
import io.mortise.lock.redlock.master.RedlockMaster;
import io.mortise.lock.redlock.master.RedlockMasters;
import io.mortise.lock.redlock.storage.RedlockKeys;
import io.mortise.lock.redlock.storage.RedlockScript;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;

/**
 * Lists, shows and force-releases the locks that the masters store, for operators.
 *
 * <p>A contender is shown as a holder if it has the grant at a majority of masters, or may have it if the masters that do not
 * reply are counted.
 */
public final class RedlockAdmin implements LockAdmin {
    private static final LuaScript STATUS = LuaScript.of(RedlockAdmin.class::getResourceAsStream, "shared/status");

    private final RedlockMasters masters;
    private final RedlockKeys keys;
    private final Optional<StoreExposureCheck> exposureCheck;
    private final String endpoints;
    private final Quorum quorum;

    public RedlockAdmin(
            RedlockMasters masters, RedlockKeys keys, Optional<StoreExposureCheck> exposureCheck, String endpoints) {
        this.masters = masters;
        this.keys = keys;
        this.exposureCheck = exposureCheck;
        this.endpoints = endpoints;
        this.quorum = masters.quorum();
    }

    /** The state of one lock at one master. */
    private record StatusAtMaster(RedlockMaster master, Optional<LockHolder> holder, List<LockHolder> waiters) {}

    /** A query that is sent to one master. */
    private interface Query<T> {
        CompletionStage<T> send(RedlockMaster master);
    }

    /** Returns the replies of the masters in their order; fails if no majority replies. */
    private <T> CompletionStage<List<T>> queryAll(String operation, Query<T> query) {
        return masters.reachable().thenCompose(reachable -> queryAll(reachable, operation, query));
    }

    private <T> CompletionStage<List<T>> queryAll(List<RedlockMaster> reachable, String operation, Query<T> query) {
        List<CompletableFuture<Optional<T>>> pending = new ArrayList<>();
        for (RedlockMaster master : reachable) {
            pending.add(query.send(master)
                    .<Optional<T>>handle((reply, failure) -> Optional.ofNullable(reply))
                    .toCompletableFuture());
        }
        return CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new))
                .thenApply(ok -> {
                    List<T> replies = pending.stream()
                            .flatMap(reply -> reply.join().stream())
                            .toList();
                    if (replies.size() < quorum.majority()) {
                        throw new BackendUnavailableException(operation + ": no quorum: " + replies.size() + " of "
                                + quorum.masters() + " masters answered of " + endpoints);
                    }
                    return replies;
                });
    }

    /** Sends a script as a normal command: an operator can wait longer than the node timeout of a vote. */
    private static CompletionStage<List<Object>> eval(
            RedlockMaster master, String operation, LuaScript script, String[] scriptKeys, String... arguments) {
        return master.node()
                .execute(
                        operation,
                        commands -> commands.eval(script.text(), ScriptOutputType.MULTI, scriptKeys, arguments));
    }

    private CompletionStage<List<StatusAtMaster>> query(String name) {
        String[] lockKeys = keys.of(new LockName(name)).all();
        String operation = "status of lock \"" + LockName.shown(name) + "\"";
        return queryAll(
                operation,
                master -> eval(master, operation, STATUS, lockKeys)
                        .thenApply(status -> new StatusAtMaster(
                                master, StatusReplyParser.holder(status), StatusReplyParser.waiters(status))));
    }

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return query(name).thenApply(statuses -> merge(name, statuses)).toCompletableFuture();
    }

    private LockStatus merge(String name, List<StatusAtMaster> statuses) {
        Map<String, List<LockHolder>> votesByGrant = new LinkedHashMap<>();
        Map<String, LockHolder> waiters = new LinkedHashMap<>();
        statuses.stream()
                .sorted(Comparator.comparing((StatusAtMaster status) -> -status.waiters.size()))
                .flatMap(status -> status.waiters.stream())
                .forEach(waiter -> waiters.putIfAbsent(grantId(waiter.raw()), waiter));
        statuses.stream()
                .flatMap(status -> status.holder.stream())
                .forEach(holder -> votesByGrant
                        .computeIfAbsent(grantId(holder.raw()), grant -> new ArrayList<>())
                        .add(holder));
        votesByGrant.values().removeIf(votes -> !mayBeMajority(votes.size(), statuses.size()));
        waiters.keySet().removeAll(votesByGrant.keySet()); // a holder may still be queued where it has no vote
        List<LockHolder> holders =
                votesByGrant.values().stream().map(this::withToken).toList();
        return new LockStatus(name, holders, List.copyOf(waiters.values()));
    }

    /** Returns the part of a stored grant that is the same on all masters. */
    private static String grantId(String raw) {
        return OwnerRecordCodec.attemptId(raw).orElse(raw);
    }

    private LockHolder withToken(List<LockHolder> votes) {
        LockHolder first = votes.get(0);
        OptionalLong token = token(votes);
        return token.isPresent() ? first.token(token.getAsLong()) : first.withoutToken();
    }

    /** Returns the token that a majority stores; a vote that came too late to count may have a higher token. */
    private OptionalLong token(List<LockHolder> votes) {
        return votes.stream()
                .flatMapToLong(vote -> vote.token().stream())
                .filter(token -> votes.stream()
                                .filter(vote -> vote.token().equals(OptionalLong.of(token)))
                                .count()
                        >= quorum.majority())
                .findFirst();
    }

    /** Lists each name once, for the first master that has a grant of it. */
    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        return masters.reachable()
                .thenCompose(reachable -> page(reachable, prefix, limit, cursor))
                .toCompletableFuture();
    }

    private CompletionStage<Page> page(List<RedlockMaster> reachable, String prefix, int limit, String cursor) {
        List<LockListing.Source> sources = reachable.stream()
                .map(master -> new LockListing.Source(Integer.toHexString(master.index()), master.node()))
                .toList();
        LockListing listing = new LockListing(
                LockListing.pattern(keys.prefix()),
                key -> keys.lockName(key).map(LockName::value),
                (source, name) -> query(name).thenApply(statuses -> {
                    boolean first = statuses.stream()
                            .filter(status -> status.holder.isPresent())
                            .findFirst()
                            .filter(status ->
                                    Integer.toHexString(status.master.index()).equals(source.id()))
                            .isPresent();
                    return first ? merge(name, statuses) : new LockStatus(name, List.of(), List.of());
                }));
        return listing.page(sources, prefix, limit, cursor);
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        String[] lockKeys = keys.of(new LockName(name)).all();
        String grant = grantId(seen.raw());
        String isAttemptId = OwnerRecordCodec.attemptId(seen.raw()).isPresent() ? "1" : "0";
        String operation = "forced release of lock \"" + LockName.shown(name) + "\"";
        return queryAll(
                        operation,
                        master -> eval(
                                        master,
                                        operation,
                                        RedlockScript.FORCE_RELEASE.script(),
                                        lockKeys,
                                        grant,
                                        isAttemptId)
                                .thenApply(reply -> reply.get(0).equals(1L)))
                .thenApply(this::wasHeld)
                .toCompletableFuture();
    }

    private boolean wasHeld(List<Boolean> deleted) {
        return mayBeMajority(deleted.stream().filter(was -> was).count(), deleted.size());
    }

    /**
     * Returns whether that many votes, together with the masters that did not reply, may be a majority. Fewer votes are
     * orphans, or votes that a release has not reached yet.
     */
    private boolean mayBeMajority(long votes, int replies) {
        return votes > 0 && votes + quorum.masters() - replies >= quorum.majority();
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        List<Finding> findings =
                new ArrayList<>(exposureCheck.map(StoreExposureCheck::findings).orElse(List.of()));
        findings.addAll(RedlockRiskCheck.ofMasterCount(masters.all().size()));
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(findings);
        for (RedlockMaster master : masters.all()) {
            all = all.thenCombine(RedlockRiskCheck.of(master), (found, more) -> {
                found.addAll(more);
                return found;
            });
        }
        return all.toCompletableFuture();
    }

    @Override
    public CompletableFuture<Map<String, Instant>> clocks() {
        return masters.reachable()
                .thenCompose(reachable -> AllServerClocksReader.of(reachable.stream()
                        .collect(Collectors.toMap(RedlockMaster::endpoint, RedlockMaster::node, (one, same) -> one))))
                .toCompletableFuture();
    }
}
