// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.spi.OwnerRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The operator's view: reads keys and queues as they stand. */
final class RedisAdmin implements LockAdmin {
    private static final Pattern TOKEN = Pattern.compile(" token=(\\d{1,18})(?: row=\\d+:\\d+)?$");
    private static final Pattern CURSOR = Pattern.compile("(\\d{1,20}) (.*)", Pattern.DOTALL);
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
                .ask("status of lock \"" + name + "\"", Script.STATUS, keys.all())
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
     * By SCAN, whose order means nothing and which may show a name twice while the server's table grows. The cursor is SCAN's,
     * and the last name that was shown of what it gave.
     */
    @Override
    public CompletionStage<Page> list(String prefix, int limit, Optional<String> cursor) {
        Matcher position = CURSOR.matcher(cursor.orElse("0 "));
        if (!position.matches()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "cursor is \"" + cursor.orElse("") + "\", must be one of a page before"));
        }
        return page(prefix, limit, position.group(1), position.group(2), new ArrayList<>());
    }

    private CompletionStage<Page> page(String prefix, int limit, String at, String after, List<LockStatus> found) {
        return scan(at).thenCompose(scanned -> {
            TreeSet<String> names = new TreeSet<>();
            for (String key : scanned.getKeys()) {
                backend.keys()
                        .lockName(key)
                        .filter(name -> name.startsWith(prefix) && name.compareTo(after) > 0)
                        .ifPresent(names::add);
            }
            return statuses(names.stream().limit(limit - found.size()).toList()).thenCompose(statuses -> {
                statuses.stream().filter(status -> !status.holders().isEmpty()).forEach(found::add);
                if (names.size() > statuses.size()) {
                    String last = statuses.isEmpty()
                            ? after
                            : statuses.get(statuses.size() - 1).name();
                    return done(new Page(found, Optional.of(at + " " + last)));
                }
                if (scanned.isFinished()) {
                    return done(new Page(found, Optional.empty()));
                }
                return found.size() == limit
                        ? done(new Page(found, Optional.of(scanned.getCursor() + " ")))
                        : page(prefix, limit, scanned.getCursor(), "", found);
            });
        });
    }

    private CompletionStage<KeyScanCursor<String>> scan(String at) {
        ScanArgs args = ScanArgs.Builder.matches(backend.keys().pattern()).limit(SCANNED_AT_ONCE);
        return node().ask("list of locks", commands -> commands.scan(ScanCursor.of(at), args));
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
                .ask("forced release of lock \"" + name + "\"", Script.FORCE_RELEASE, keys.all(), seen.raw())
                .thenApply(answer -> answer.get(0).equals(1L));
    }

    @Override
    public CompletionStage<List<Finding>> diagnose() {
        return node().ask("diagnosis", commands -> commands.info()).thenApply(RedisAdmin::findings);
    }

    static List<Finding> findings(String info) {
        List<Finding> findings = new ArrayList<>();
        EvictionCheck.endangers(info)
                .ifPresent(policy -> findings.add(new Finding(
                        Finding.Severity.WARNING,
                        "maxmemory-policy is " + policy + ": locks may be evicted when the memory is full",
                        "set maxmemory-policy noeviction, or use a Redis of its own for locks")));
        if (EvictionCheck.field(info, "aof_enabled").filter("0"::equals).isPresent()) {
            findings.add(new Finding(
                    Finding.Severity.WARNING,
                    "the append-only file is off: a restart forgets who holds what",
                    "set appendonly yes and appendfsync always, or keep a restarted server away for one lease"));
        }
        return findings;
    }

    private RedisNode node() {
        return backend.link().nodes().get(0);
    }

    private static CompletionStage<LockAdmin.Page> done(Page page) {
        return CompletableFuture.completedFuture(page);
    }
}
