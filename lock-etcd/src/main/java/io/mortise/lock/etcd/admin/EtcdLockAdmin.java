// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.admin;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.etcd.connection.EtcdRequestSender;
import io.mortise.lock.etcd.connection.EtcdSettings;
import io.mortise.lock.etcd.queue.EtcdKeyLayout;
import io.mortise.lock.etcd.queue.EtcdTransactionParts;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Lists, inspects and force-releases locks on etcd for operators. */
public final class EtcdLockAdmin implements LockAdmin {
    private static final int KEYS_PER_READ = 1_000;
    private static final int ALL = 0;

    private final EtcdRequestSender requests;
    private final EtcdKeyLayout keys;
    private final EtcdSettings settings;

    public EtcdLockAdmin(EtcdRequestSender requests, EtcdKeyLayout keys, EtcdSettings settings) {
        this.requests = requests;
        this.keys = keys;
        this.settings = settings;
    }

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return queue(name, ALL)
                .thenApply(queue -> {
                    List<LockHolder> contenders =
                            queue.stream().map(EtcdLockAdmin::contender).toList();
                    int holders = Math.min(1, contenders.size());
                    return new LockStatus(
                            name, contenders.subList(0, holders), contenders.subList(holders, contenders.size()));
                })
                .toCompletableFuture();
    }

    /** Returns the keys of the first contenders, the holder first. */
    private CompletionStage<List<KeyValue>> queue(String name, int limit) {
        ByteSequence range = EtcdKeyLayout.bytes(keys.contenderPrefix(new LockName(name)));
        GetOption byCreation = GetOption.builder()
                .withRange(OptionsUtil.prefixEndOf(range))
                .withSortField(GetOption.SortTarget.CREATE)
                .withSortOrder(GetOption.SortOrder.ASCEND)
                .withLimit(limit)
                .build();
        return requests.get("status of lock \"" + LockName.shown(name) + "\"", range, byCreation)
                .thenApply(GetResponse::getKvs);
    }

    private static LockHolder contender(KeyValue key) {
        return OwnerRecordCodec.parse(
                key.getValue().toString(StandardCharsets.UTF_8),
                OptionalLong.of(key.getCreateRevision()),
                EtcdForeignContenderAttributes.of(key));
    }

    /** Returns the locks in the order of their escaped names. The cursor is the last name of the page before. */
    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        ByteSequence from;
        try {
            from = cursor.isEmpty() ? keys.firstWithPrefix(prefix) : keys.afterLock(cursor);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(new IllegalArgumentException(
                    "prefix is \"" + prefix + "\" and cursor \"" + cursor
                            + "\", must be the beginning of a lock name and the cursor of an earlier page",
                    e));
        }
        return page(new Listing(prefix, limit, new ArrayList<>()), from).toCompletableFuture();
    }

    private record Listing(String prefix, int limit, List<LockStatus> found) {
        int remaining() {
            return limit - found.size();
        }
    }

    private CompletionStage<Page> page(Listing listing, ByteSequence from) {
        GetOption options = GetOption.builder()
                .withRange(end(listing.prefix))
                .withSortField(GetOption.SortTarget.KEY)
                .withSortOrder(GetOption.SortOrder.ASCEND)
                .withKeysOnly(true)
                .withLimit(KEYS_PER_READ)
                .build();
        return requests.get("list of locks", from, options).thenCompose(read -> {
            int limit = listing.remaining();
            List<String> names = names(read.getKvs(), listing);
            return statuses(names).thenCompose(statuses -> {
                statuses.stream().filter(status -> !status.holders().isEmpty()).forEach(listing.found::add);
                boolean more = read.isMore() || names.size() == limit;
                if (!more || read.getKvs().isEmpty()) {
                    return done(new Page(listing.found, Optional.empty()));
                }
                if (listing.remaining() == 0) {
                    return done(new Page(listing.found, Optional.of(names.get(names.size() - 1))));
                }
                ByteSequence last = read.getKvs().get(read.getKvs().size() - 1).getKey();
                return page(listing, names.isEmpty() ? next(last) : keys.afterLock(names.get(names.size() - 1)));
            });
        });
    }

    private ByteSequence end(String prefix) {
        return prefix.isEmpty() ? keys.end() : OptionsUtil.prefixEndOf(keys.firstWithPrefix(prefix));
    }

    private static ByteSequence next(ByteSequence key) {
        return key.concat(ByteSequence.from(new byte[] {0}));
    }

    private List<String> names(List<KeyValue> found, Listing listing) {
        List<String> names = new ArrayList<>();
        for (KeyValue key : found) {
            keys.lockName(key.getKey().toString(StandardCharsets.UTF_8))
                    .filter(name -> name.startsWith(listing.prefix))
                    .filter(name ->
                            names.isEmpty() || !names.get(names.size() - 1).equals(name))
                    .filter(name -> names.size() < listing.remaining())
                    .ifPresent(names::add);
        }
        return names;
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
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder expected) {
        return queue(name, 1)
                .thenCompose(queue -> {
                    Optional<KeyValue> holder = queue.stream()
                            .findFirst()
                            .filter(key -> contender(key).raw().equals(expected.raw()))
                            .filter(key -> expected.token().isEmpty()
                                    || expected.token().getAsLong() == key.getCreateRevision());
                    if (holder.isEmpty()) {
                        return CompletableFuture.completedFuture(false);
                    }
                    ByteSequence key = holder.get().getKey();
                    return requests.txn(
                                    "forced release of lock \"" + LockName.shown(name) + "\"",
                                    new Cmp[] {
                                        EtcdTransactionParts.hasCreateRevision(
                                                key, holder.get().getCreateRevision())
                                    },
                                    new Op[] {EtcdTransactionParts.delete(key)})
                            .thenApply(response -> response.isSucceeded());
                })
                .toCompletableFuture();
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return new EtcdRiskCheck(requests, settings).findings().toCompletableFuture();
    }

    private static CompletionStage<Page> done(Page page) {
        return CompletableFuture.completedFuture(page);
    }
}
