// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockStatus;
import io.mortise.lock.redis.node.RedisNodeClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Lists the locks on several servers page by page. A page's cursor consists of the server's id, SCAN's cursor, and the last
 * name that was listed from that scan. Immutable.
 */
public final class LockListing {
    private static final Pattern CURSOR = Pattern.compile("([0-9a-f]*):(\\d{1,20}) (.*)", Pattern.DOTALL);
    private static final int SCANNED_AT_ONCE = 1_000;

    private final String pattern;
    private final Function<String, Optional<String>> lockName;
    private final BiFunction<Source, String, CompletionStage<LockStatus>> status;

    /**
     * A server whose keys are scanned.
     *
     * @param id hexadecimal digits by which the servers are ordered; may be empty if there is only one
     */
    public record Source(String id, RedisNodeClient node) {}

    /**
     * Creates a listing of the locks whose keys match.
     *
     * @param pattern the pattern of keys for SCAN
     * @param lockName returns the name of the lock whose grant a key is; empty for any other key
     * @param status reads the status of a lock on a server; only locks that have holders are listed
     */
    public LockListing(
            String pattern,
            Function<String, Optional<String>> lockName,
            BiFunction<Source, String, CompletionStage<LockStatus>> status) {
        this.pattern = pattern;
        this.lockName = lockName;
        this.status = status;
    }

    /** Returns the pattern that matches all keys with this prefix. */
    public static String pattern(String prefix) {
        return prefix.replaceAll("([\\\\*?\\[\\]^-])", "\\\\$1") + "*";
    }

    /**
     * Returns one page of locks, see {@link LockAdmin#list}.
     *
     * @param sources the servers in the order of their ids
     */
    public CompletionStage<LockAdmin.Page> page(List<Source> sources, String prefix, int limit, String cursor) {
        Matcher position = CURSOR.matcher(cursor.isEmpty() ? ":0 " : cursor);
        if (!position.matches()) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "cursor is \"" + cursor + "\", must be the cursor of an earlier page"));
        }
        String id = position.group(1);
        Query query = new Query(sources, prefix, limit, new ArrayList<>());
        Optional<Source> source = query.from(id).findFirst();
        if (source.isEmpty()) {
            return done(new LockAdmin.Page(List.of(), Optional.empty()));
        }
        boolean present =
                id.isEmpty() || source.get().id.equals(id); // else that server left the cluster: start with the next
        return page(query, source.get(), present ? position.group(2) : "0", present ? position.group(3) : "");
    }

    private record Query(List<Source> sources, String prefix, int limit, List<LockStatus> found) {
        Stream<Source> from(String id) {
            return sources.stream().filter(source -> source.id.compareTo(id) >= 0);
        }
    }

    private CompletionStage<LockAdmin.Page> page(Query query, Source source, String at, String after) {
        List<LockStatus> found = query.found;
        return scan(source.node, at).thenCompose(scanned -> {
            TreeSet<String> names = new TreeSet<>();
            for (String key : scanned.getKeys()) {
                lockName.apply(key)
                        .filter(name -> name.startsWith(query.prefix) && name.compareTo(after) > 0)
                        .ifPresent(names::add);
            }
            List<String> selected =
                    names.stream().limit(query.limit - found.size()).toList();
            return statuses(source, selected).thenCompose(statuses -> {
                statuses.stream().filter(one -> !one.holders().isEmpty()).forEach(found::add);
                if (names.size() > selected.size()) {
                    String last = selected.isEmpty() ? after : selected.get(selected.size() - 1);
                    return done(new LockAdmin.Page(found, cursor(source, at, last)));
                }
                Optional<Source> next = scanned.isFinished()
                        ? query.from(source.id)
                                .filter(other -> !other.id.equals(source.id))
                                .findFirst()
                        : Optional.of(source);
                if (next.isEmpty()) {
                    return done(new LockAdmin.Page(found, Optional.empty()));
                }
                String from = scanned.isFinished() ? "0" : scanned.getCursor();
                return found.size() == query.limit
                        ? done(new LockAdmin.Page(found, cursor(next.get(), from, "")))
                        : page(query, next.get(), from, "");
            });
        });
    }

    private static Optional<String> cursor(Source source, String at, String after) {
        return Optional.of(source.id + ":" + at + " " + after);
    }

    private CompletionStage<KeyScanCursor<String>> scan(RedisNodeClient node, String at) {
        ScanArgs args = ScanArgs.Builder.matches(pattern).limit(SCANNED_AT_ONCE);
        return node.execute("list of locks", commands -> commands.scan(ScanCursor.of(at), args));
    }

    private CompletionStage<List<LockStatus>> statuses(Source source, List<String> names) {
        CompletionStage<List<LockStatus>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (String name : names) {
            all = all.thenCombine(status.apply(source, name), (list, one) -> {
                list.add(one);
                return list;
            });
        }
        return all;
    }

    private static CompletionStage<LockAdmin.Page> done(LockAdmin.Page page) {
        return CompletableFuture.completedFuture(page);
    }
}
