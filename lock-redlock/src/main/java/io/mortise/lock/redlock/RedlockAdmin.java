// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.ScriptOutputType;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.node.LockListing;
import io.mortise.lock.redis.node.LuaScript;
import io.mortise.lock.redis.node.ServerClocks;
import io.mortise.lock.redis.node.StoredGrant;
import io.mortise.lock.spi.AccessCheck;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecord;
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

/** The operator's view. A holder is who has the key at a majority, or may have it with the masters that do not answer. */
final class RedlockAdmin implements LockAdmin {
    private static final LuaScript STATUS = LuaScript.of(RedlockAdmin.class::getResourceAsStream, "shared/status");

    private final RedlockBackend backend;
    private final Quorum quorum;

    RedlockAdmin(RedlockBackend backend) {
        this.backend = backend;
        this.quorum = backend.masters().quorum();
    }

    /** What one master said. */
    private record Said(Master master, Optional<LockHolder> holder, List<LockHolder> waiters) {}

    private interface Question<T> {
        CompletionStage<T> to(Master master);
    }

    /** The answers of all that answer, in the masters' order; failed if those are no majority. */
    private <T> CompletionStage<List<T>> askAll(String what, Question<T> question) {
        return backend.masters().reachable().thenCompose(masters -> ask(masters, what, question));
    }

    private <T> CompletionStage<List<T>> ask(List<Master> masters, String what, Question<T> question) {
        List<CompletableFuture<Optional<T>>> asked = new ArrayList<>();
        for (Master master : masters) {
            asked.add(question.to(master)
                    .<Optional<T>>handle((answer, failure) -> Optional.ofNullable(answer))
                    .toCompletableFuture());
        }
        return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new)).thenApply(ok -> {
            List<T> answers =
                    asked.stream().flatMap(answer -> answer.join().stream()).toList();
            if (answers.size() < quorum.majority()) {
                throw new BackendUnavailableException(what + ": no quorum: " + answers.size() + " of " + quorum.nodes()
                        + " masters answered of " + backend.endpoints());
            }
            return answers;
        });
    }

    /** As a plain command: an operator has more time than a vote. */
    private static CompletionStage<List<Object>> eval(
            Master master, String what, LuaScript script, String[] keys, String... arguments) {
        return master.node()
                .ask(what, commands -> commands.eval(script.text(), ScriptOutputType.MULTI, keys, arguments));
    }

    private CompletionStage<List<Said>> ask(String name) {
        String[] keys = backend.keys().of(new LockName(name)).all();
        String what = "status of lock \"" + LockName.shown(name) + "\"";
        return askAll(
                what,
                master -> eval(master, what, STATUS, keys)
                        .thenApply(
                                status -> new Said(master, StoredGrant.holder(status), StoredGrant.waiters(status))));
    }

    @Override
    public CompletionStage<LockStatus> status(String name) {
        return ask(name).thenApply(said -> status(name, said));
    }

    private LockStatus status(String name, List<Said> said) {
        Map<String, List<LockHolder>> byGrant = new LinkedHashMap<>();
        Map<String, LockHolder> waiters = new LinkedHashMap<>();
        said.stream()
                .sorted(Comparator.comparing((Said one) -> -one.waiters.size()))
                .flatMap(one -> one.waiters.stream())
                .forEach(waiter -> waiters.putIfAbsent(grantOf(waiter.raw()), waiter));
        said.stream()
                .flatMap(one -> one.holder.stream())
                .forEach(holder -> byGrant.computeIfAbsent(grantOf(holder.raw()), grant -> new ArrayList<>())
                        .add(holder));
        List<LockHolder> holders = byGrant.values().stream()
                .filter(votes -> mayBeMajority(votes.size(), said.size()))
                .map(this::withToken)
                .toList();
        return new LockStatus(name, holders, List.copyOf(waiters.values()));
    }

    /** The same on all masters, unlike what follows it. */
    private static String grantOf(String raw) {
        return OwnerRecord.attemptId(raw).orElse(raw);
    }

    private LockHolder withToken(List<LockHolder> votes) {
        LockHolder one = votes.get(0);
        return new LockHolder(
                one.owner(),
                one.host(),
                one.pid(),
                one.since(),
                token(votes),
                one.metadata(),
                one.foreign(),
                one.raw());
    }

    /** A majority has it; a vote that came too late to count may have a higher one. */
    private OptionalLong token(List<LockHolder> votes) {
        return votes.stream()
                .flatMapToLong(vote -> vote.token().stream())
                .filter(token -> votes.stream()
                                .filter(vote -> vote.token().equals(OptionalLong.of(token)))
                                .count()
                        >= quorum.majority())
                .findFirst();
    }

    /** A name is shown by the first master that has its key. */
    @Override
    public CompletionStage<Page> list(String prefix, int limit, Optional<String> cursor) {
        return backend.masters().reachable().thenCompose(masters -> page(masters, prefix, limit, cursor));
    }

    private CompletionStage<Page> page(List<Master> masters, String prefix, int limit, Optional<String> cursor) {
        List<LockListing.Source> sources = masters.stream()
                .map(master -> new LockListing.Source(Integer.toHexString(master.index()), master.node()))
                .toList();
        LockListing listing = new LockListing(
                LockListing.pattern(backend.keys().prefix()),
                key -> backend.keys().lockName(key).map(LockName::value),
                (source, name) -> ask(name).thenApply(said -> {
                    boolean first = said.stream()
                            .filter(one -> one.holder.isPresent())
                            .findFirst()
                            .filter(one ->
                                    Integer.toHexString(one.master.index()).equals(source.id()))
                            .isPresent();
                    return first ? status(name, said) : new LockStatus(name, List.of(), List.of());
                }));
        return listing.page(sources, prefix, limit, cursor);
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name, LockHolder seen) {
        String[] keys = backend.keys().of(new LockName(name)).all();
        String grant = grantOf(seen.raw());
        String ours = OwnerRecord.attemptId(seen.raw()).isPresent() ? "1" : "0";
        String what = "forced release of lock \"" + LockName.shown(name) + "\"";
        return askAll(
                        what,
                        master -> eval(master, what, RedlockScript.FORCE_RELEASE.script(), keys, grant, ours)
                                .thenApply(answer -> answer.get(0).equals(1L)))
                .thenApply(this::wasHeld);
    }

    private boolean wasHeld(List<Boolean> removed) {
        return mayBeMajority(removed.stream().filter(was -> was).count(), removed.size());
    }

    /** A key that so few have is what a release has yet to reach, or a vote for nobody, unless those that said nothing have it. */
    private boolean mayBeMajority(long votes, int answers) {
        return votes > 0 && votes + quorum.nodes() - answers >= quorum.majority();
    }

    @Override
    public CompletionStage<List<Finding>> diagnose() {
        List<Finding> ofAll =
                new ArrayList<>(backend.access().map(AccessCheck::findings).orElse(List.of()));
        ofAll.addAll(RedlockDiagnosis.number(backend.masters().all().size()));
        CompletionStage<List<Finding>> all = CompletableFuture.completedFuture(ofAll);
        for (Master master : backend.masters().all()) {
            all = all.thenCombine(RedlockDiagnosis.of(master), (found, more) -> {
                found.addAll(more);
                return found;
            });
        }
        return all;
    }

    @Override
    public CompletionStage<Map<String, Instant>> clocks() {
        return backend.masters()
                .reachable()
                .thenCompose(masters -> ServerClocks.of(masters.stream()
                        .collect(Collectors.toMap(Master::endpoint, Master::node, (one, same) -> one))));
    }
}
