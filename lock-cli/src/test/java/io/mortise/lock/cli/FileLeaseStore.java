// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import io.mortise.lock.spi.LeaseStore;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

/**
 * A store for several processes that keeps each lock in a file of a folder, for tests only. It relies on the wall clock and on
 * a {@code FileLock}, which a real store must not do.
 */
final class FileLeaseStore implements LeaseStore {
    private final Path dir;
    private final Executor blocking;

    FileLeaseStore(Path dir, Executor blocking) {
        this.dir = dir;
        this.blocking = blocking;
    }

    /** @param owner the owner record; empty when released */
    private record Entry(long token, long validUntil, String owner) {
        boolean heldBy(String attemptId) {
            return validUntil > System.currentTimeMillis()
                    && OwnerRecordCodec.attemptId(owner)
                            .filter(attemptId::equals)
                            .isPresent();
        }
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        String attemptId = OwnerRecordCodec.attemptId(ownerRecord).orElseThrow();
        return locked(name, entry -> {
            if (entry.heldBy(attemptId)) {
                return new Step<Answer>(entry, new Answer.Token(entry.token()));
            }
            if (!entry.owner().isEmpty() && entry.validUntil() > System.currentTimeMillis()) {
                return new Step<Answer>(entry, new Answer.HeldBy(entry.owner()));
            }
            Entry ours = new Entry(entry.token() + 1, System.currentTimeMillis() + lease.toMillis(), ownerRecord);
            return new Step<Answer>(ours, new Answer.Token(ours.token()));
        });
    }

    @Override
    public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
        CompletableFuture<Set<Grant>> removed = CompletableFuture.completedFuture(new HashSet<>());
        for (Grant grant : grants) {
            removed = removed.thenCombine(renew(grant, lease), (all, renewed) -> {
                if (!renewed) {
                    all.add(grant);
                }
                return all;
            });
        }
        return removed;
    }

    private CompletableFuture<Boolean> renew(Grant grant, Duration lease) {
        return locked(
                grant.name(),
                entry -> entry.heldBy(grant.attemptId())
                        ? new Step<>(
                                new Entry(entry.token(), System.currentTimeMillis() + lease.toMillis(), entry.owner()),
                                true)
                        : new Step<>(entry, false));
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return locked(
                grant.name(),
                entry -> entry.heldBy(grant.attemptId())
                        ? new Step<>(new Entry(entry.token(), 0, ""), true)
                        : new Step<>(entry, false));
    }

    @Override
    public String endpoints() {
        return dir.toString();
    }

    @Override
    public void close() {}

    private record Step<T>(Entry after, T result) {}

    private interface Change<T> {
        Step<T> apply(Entry before);
    }

    private <T> CompletableFuture<T> locked(LockName name, Change<T> change) {
        CompletableFuture<T> result = new CompletableFuture<>();
        blocking.execute(() -> {
            try {
                result.complete(change(name, change));
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private <T> T change(LockName name, Change<T> change) throws IOException {
        Path file = dir.resolve(name.escaped());
        synchronized (FileLeaseStore.class) {
            try (FileChannel channel = FileChannel.open(
                            file.resolveSibling("guard"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                    FileLock held = channel.lock()) {
                Step<T> step = change.apply(read(file));
                Entry after = step.after();
                Files.writeString(file, after.token() + "\n" + after.validUntil() + "\n" + after.owner());
                return step.result();
            }
        }
    }

    private static Entry read(Path file) throws IOException {
        if (!Files.exists(file)) {
            return new Entry(0, 0, "");
        }
        String[] lines = Files.readString(file).split("\n", 3);
        return new Entry(Long.parseLong(lines[0]), Long.parseLong(lines[1]), lines[2]);
    }
}
