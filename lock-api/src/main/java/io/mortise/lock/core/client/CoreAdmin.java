// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.client;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.core.runtime.CallbackExecutor;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.support.StageFailures;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Wraps a backend's {@link LockAdmin} to validate arguments first and to complete futures on the callback executor. */
public record CoreAdmin(LockAdmin backend, String endpoints, CallbackExecutor callbacks) implements LockAdmin {
    private static final int MOST_PER_PAGE = 10_000;

    @Override
    public CompletableFuture<LockStatus> status(String name) {
        return offIoThread(backend.status(checked(name)));
    }

    @Override
    public CompletableFuture<Page> list(String prefix, int limit, String cursor) {
        checkPrefix(Objects.requireNonNull(prefix, "prefix"));
        Objects.requireNonNull(cursor, "cursor");
        if (limit < 1 || limit > MOST_PER_PAGE) {
            throw new IllegalArgumentException("limit is " + limit + ", must be from 1 to " + MOST_PER_PAGE);
        }
        return offIoThread(backend.list(prefix, limit, cursor));
    }

    @Override
    public CompletableFuture<Boolean> forceRelease(String name, LockHolder seen) {
        return offIoThread(backend.forceRelease(checked(name), Objects.requireNonNull(seen, "seen")));
    }

    @Override
    public CompletableFuture<List<Finding>> diagnose() {
        return offIoThread(backend.diagnose());
    }

    @Override
    public CompletableFuture<Map<String, Instant>> clocks() {
        return offIoThread(backend.clocks());
    }

    private static void checkPrefix(String prefix) {
        try {
            if (!prefix.isEmpty()) {
                checked(prefix);
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("prefix is not the start of a lock name: " + e.getMessage(), e);
        }
    }

    private static String checked(String name) {
        return new LockName(Objects.requireNonNull(name, "name")).value();
    }

    private <T> CompletableFuture<T> offIoThread(CompletionStage<T> stage) {
        CompletableFuture<T> result = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> callbacks.execute(() -> {
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(withEndpoints(StageFailures.unwrap(failure)));
            }
        }));
        return result;
    }

    private Throwable withEndpoints(Throwable failure) {
        return failure instanceof BackendUnavailableException silent ? silent.withEndpoints(endpoints) : failure;
    }
}
