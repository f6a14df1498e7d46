// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.node.EvictionCheck;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.spi.OwnerRecord;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The operator's view: reads keys and queues as they stand. */
final class RedisAdmin implements LockAdmin {
    private static final Pattern TOKEN = Pattern.compile(" token=(\\d{1,18})(?: row=\\d+:\\d+)?$");
    private static final Pattern CURSOR = Pattern.compile("([0-9a-f]*):(\\d{1,20}) (.*)", Pattern.DOTALL);
    private static final int SCANNED_AT_ONCE = 1_000;

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
                .thenApply(line -> {
                    String value = (String) line.get(0);
                    List<LockHolder> holders =
                            value.isEmpty() ? List.of() : List.of(OwnerRecord.parse(value.substring(1), token(value)));
                    List<LockHolder> waiters = line.stream()
                            .skip(1)
                            .map(record -> OwnerRecord.parse((String) record, OptionalLong.empty()))
                            .toList();
                    return new LockStatus(name, holders, waiters);
                });
    }

    private static OptionalLong token(String value) {
        Matcher matcher = TOKEN.matcher(value);
        return matcher.find() ? OptionalLong.of(Long.parseLong(matcher.group(1))) : OptionalLong.empty();
    }

    /**
     * By SCAN, whose order means nothing and which may show a name twice while the server's table grows, or its slot moves to
     * another. The cursor is the server, SCAN's, and the last name that was shown of what it gave.
     */
    @Override
    public CompletionStage<Page> list(String prefix, int limit, Optional<String> cursor) {
        Matcher position = CURSOR.matcher(cursor.orElse(":0 "));
        if (!position.matches()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "cursor is \"" + cursor.orElse("") + "\", must be one of a page before"));
        }
        String on = position.group(1);
        Optional<RedisNode> node = nodesFrom(on).findFirst();
        if (node.isEmpty()) {
            return done(new Page(List.of(), Optional.empty()));
        }
        boolean there = on.isEmpty() || node.get().id().equals(on); // else that one is gone, and the next begins
        return page(
                new Listing(prefix, limit, new ArrayList<>()),
                node.get(),
                there ? position.group(2) : "0",
                there ? position.group(3) : "");
    }

    private record Listing(String prefix, int limit, List<LockStatus> found) {}

    private Stream<RedisNode> nodesFrom(String id) {
        return backend.link().nodes().stream().filter(node -> node.id().compareTo(id) >= 0);
    }

    private CompletionStage<Page> page(Listing listing, RedisNode node, String at, String after) {
        List<LockStatus> found = listing.found;
        return scan(node, at).thenCompose(scanned -> {
            TreeSet<String> names = new TreeSet<>();
            for (String key : scanned.getKeys()) {
                backend.keys()
                        .lockName(key)
                        .filter(name -> name.startsWith(listing.prefix) && name.compareTo(after) > 0)
                        .ifPresent(names::add);
            }
            List<String> some =
                    names.stream().limit(listing.limit - found.size()).toList();
            return statuses(some).thenCompose(statuses -> {
                statuses.stream().filter(status -> !status.holders().isEmpty()).forEach(found::add);
                if (names.size() > some.size()) {
                    String last = some.isEmpty() ? after : some.get(some.size() - 1);
                    return done(new Page(found, cursor(node, at, last)));
                }
                Optional<RedisNode> next = scanned.isFinished()
                        ? nodesFrom(node.id()).filter(other -> other != node).findFirst()
                        : Optional.of(node);
                if (next.isEmpty()) {
                    return done(new Page(found, Optional.empty()));
                }
                String from = scanned.isFinished() ? "0" : scanned.getCursor();
                return found.size() == listing.limit
                        ? done(new Page(found, cursor(next.get(), from, "")))
                        : page(listing, next.get(), from, "");
            });
        });
    }

    private static Optional<String> cursor(RedisNode node, String at, String after) {
        return Optional.of(node.id() + ":" + at + " " + after);
    }

    private CompletionStage<KeyScanCursor<String>> scan(RedisNode node, String at) {
        ScanArgs args = ScanArgs.Builder.matches(backend.keys().pattern()).limit(SCANNED_AT_ONCE);
        return node.ask("list of locks", commands -> commands.scan(ScanCursor.of(at), args));
    }

    private CompletionStage<List<LockStatus>> statuses(List<String> names) {
        CompletionStage<List<LockStatus>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (String name : names) {
            all = all.thenCombine(status(name), (list, status) -> {
                list.add(status);
                return list;
            });
        }
        return all;
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
                found.addAll(findings(info));
                return found;
            });
        }
        return all.thenApply(List::copyOf);
    }

    static List<Finding> findings(String info) {
        List<Finding> findings = new ArrayList<>();
        EvictionCheck.endangers(info)
                .ifPresent(policy -> findings.add(new Finding(
                        Finding.Severity.WARNING,
                        "maxmemory-policy is " + policy + ": locks may be evicted when the memory is full",
                        "set maxmemory-policy noeviction, or use a Redis of its own for locks")));
        if (ServerInfo.field(info, "aof_enabled").filter("0"::equals).isPresent()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "the append-only file is off: a restart forgets who holds what",
                    "set appendonly yes and appendfsync always, or keep a restarted server away for one lease"));
        }
        return findings;
    }

    private static CompletionStage<LockAdmin.Page> done(Page page) {
        return CompletableFuture.completedFuture(page);
    }
}
