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
 * Lists the locks of several servers, page by page. The cursor is the server, SCAN's, and the last name that was shown of what
 * it gave. Immutable.
 */
public final class LockListing {
    private static final Pattern CURSOR = Pattern.compile("([0-9a-f]*):(\\d{1,20}) (.*)", Pattern.DOTALL);
    private static final int SCANNED_AT_ONCE = 1_000;

    private final String pattern;
    private final Function<String, Optional<String>> lockName;
    private final BiFunction<Source, String, CompletionStage<LockStatus>> status;

    /**
     * A server to be scanned.
     *
     * @param id in hexadecimal digits, by which they are ordered; may be empty if there is only one
     */
    public record Source(String id, RedisNodeClient node) {}

    /**
     * Of the locks whose keys match.
     *
     * @param lockName the lock whose grant a key is; empty for any other key
     * @param status of a lock whose key is at that source; it is shown if it has holders
     */
    public LockListing(
            String pattern,
            Function<String, Optional<String>> lockName,
            BiFunction<Source, String, CompletionStage<LockStatus>> status) {
        this.pattern = pattern;
        this.lockName = lockName;
        this.status = status;
    }

    /** What keys with that prefix match. */
    public static String pattern(String prefix) {
        return prefix.replaceAll("([\\\\*?\\[\\]^-])", "\\\\$1") + "*";
    }

    /**
     * See {@link LockAdmin#list}.
     *
     * @param sources in the order of their ids
     */
    public CompletionStage<LockAdmin.Page> page(List<Source> sources, String prefix, int limit, String cursor) {
        Matcher position = CURSOR.matcher(cursor.isEmpty() ? ":0 " : cursor);
        if (!position.matches()) {
            return CompletableFuture.failedFuture(
                    new IllegalArgumentException("cursor is \"" + cursor + "\", must be one of a page before"));
        }
        String on = position.group(1);
        Wanted wanted = new Wanted(sources, prefix, limit, new ArrayList<>());
        Optional<Source> source = wanted.from(on).findFirst();
        if (source.isEmpty()) {
            return done(new LockAdmin.Page(List.of(), Optional.empty()));
        }
        boolean there =
                on.isEmpty() || source.get().id.equals(on); // else that server left the cluster, and the next begins
        return page(wanted, source.get(), there ? position.group(2) : "0", there ? position.group(3) : "");
    }

    private record Wanted(List<Source> sources, String prefix, int limit, List<LockStatus> found) {
        Stream<Source> from(String id) {
            return sources.stream().filter(source -> source.id.compareTo(id) >= 0);
        }
    }

    private CompletionStage<LockAdmin.Page> page(Wanted wanted, Source source, String at, String after) {
        List<LockStatus> found = wanted.found;
        return scan(source.node, at).thenCompose(scanned -> {
            TreeSet<String> names = new TreeSet<>();
            for (String key : scanned.getKeys()) {
                lockName.apply(key)
                        .filter(name -> name.startsWith(wanted.prefix) && name.compareTo(after) > 0)
                        .ifPresent(names::add);
            }
            List<String> some =
                    names.stream().limit(wanted.limit - found.size()).toList();
            return statuses(source, some).thenCompose(statuses -> {
                statuses.stream().filter(one -> !one.holders().isEmpty()).forEach(found::add);
                if (names.size() > some.size()) {
                    String last = some.isEmpty() ? after : some.get(some.size() - 1);
                    return done(new LockAdmin.Page(found, cursor(source, at, last)));
                }
                Optional<Source> next = scanned.isFinished()
                        ? wanted.from(source.id)
                                .filter(other -> !other.id.equals(source.id))
                                .findFirst()
                        : Optional.of(source);
                if (next.isEmpty()) {
                    return done(new LockAdmin.Page(found, Optional.empty()));
                }
                String from = scanned.isFinished() ? "0" : scanned.getCursor();
                return found.size() == wanted.limit
                        ? done(new LockAdmin.Page(found, cursor(next.get(), from, "")))
                        : page(wanted, next.get(), from, "");
            });
        });
    }

    private static Optional<String> cursor(Source source, String at, String after) {
        return Optional.of(source.id + ":" + at + " " + after);
    }

    private CompletionStage<KeyScanCursor<String>> scan(RedisNodeClient node, String at) {
        ScanArgs args = ScanArgs.Builder.matches(pattern).limit(SCANNED_AT_ONCE);
        return node.ask("list of locks", commands -> commands.scan(ScanCursor.of(at), args));
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
