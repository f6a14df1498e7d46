// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The actuator endpoint {@code locks}: shows who holds and who waits for locks (S18), and releases a lock by force. Read-only unless
 * {@code management.endpoint.locks.access} is {@code unrestricted}. Text of the store is untrusted (S19). Thread-safe.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public final class LocksEndpoint {
    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST_LOCKS = 10_000;

    private final LockClient client;
    private final Duration limit;

    /** Creates the endpoint for one client. */
    public LocksEndpoint(LockClient client) {
        this(client, AdminCall.LIMIT);
    }

    LocksEndpoint(LockClient client, Duration limit) {
        this.client = client;
        this.limit = limit;
    }

    /**
     * Returns one lock, or one page of the locks whose names have a prefix.
     *
     * @param name the name of the one lock; null for a page
     * @param prefix the start of the names; null for all locks
     * @param limit the longest page, 1 to 10,000; null for 100
     * @param cursor {@link Locks#next} of the previous page; null for the first one
     * @throws InvalidEndpointRequestException if the store shows no locks, or the parameters are invalid
     */
    @ReadOperation
    public Locks locks(
            @Nullable String name, @Nullable String prefix, @Nullable Integer limit, @Nullable String cursor) {
        if (name != null) {
            if (prefix != null || limit != null || cursor != null) {
                throw invalid("name cannot be combined with prefix, limit and cursor");
            }
            return new Locks(List.of(Lock.of(status(name))), null);
        }
        int size = limit == null ? DEFAULT_LIMIT : limit;
        if (size < 1 || size > MOST_LOCKS) {
            throw invalid("limit is " + size + ", must be from 1 to " + MOST_LOCKS);
        }
        LockAdmin admin = admin();
        LockAdmin.Page page = get(() -> admin.list(prefix == null ? "" : prefix, size, cursor == null ? "" : cursor));
        return new Locks(
                page.locks().stream().map(Lock::of).toList(), page.next().orElse(null));
    }

    /**
     * Releases a lock on behalf of its holder, who then loses the lease.
     *
     * @param name the name of the lock
     * @param token the fencing token of the grant to remove: a later grant is left alone
     * @return whether that grant held the lock, and was removed
     */
    @DeleteOperation
    public ForcedRelease forceRelease(String name, long token) {
        for (LockHolder holder : status(name).holders()) {
            if (holder.token().isPresent() && holder.token().getAsLong() == token) {
                return new ForcedRelease(get(() -> admin().forceRelease(name, holder)));
            }
        }
        return new ForcedRelease(false);
    }

    private LockStatus status(String name) {
        LockAdmin admin = admin();
        return get(() -> admin.status(name));
    }

    private LockAdmin admin() {
        return client.admin().orElseThrow(() -> invalid("the store does not support administration"));
    }

    /** Waits for an answer, which comes within a few request timeouts unless the callback executor is busy. */
    private <T> T get(Supplier<CompletableFuture<T>> request) {
        try {
            return AdminCall.await(request.get(), limit);
        } catch (IllegalArgumentException e) {
            throw invalid(String.valueOf(e.getMessage()));
        } catch (CompletionException e) {
            if (e.getCause() instanceof IllegalArgumentException cause) {
                throw invalid(String.valueOf(cause.getMessage()));
            }
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private static InvalidEndpointRequestException invalid(String reason) {
        return new InvalidEndpointRequestException(reason, reason);
    }

    /**
     * A page of locks.
     *
     * @param locks the locks
     * @param next the cursor of the next page; null on the last one
     */
    public record Locks(List<Lock> locks, @Nullable String next) {}

    /**
     * One lock; see {@link LockStatus}.
     *
     * @param name its name
     * @param holders its holders, at most one
     * @param waiters those that wait, in the order of the store's queue
     */
    public record Lock(String name, List<Owner> holders, List<Owner> waiters) {
        static Lock of(LockStatus status) {
            return new Lock(
                    status.name(),
                    status.holders().stream().map(Owner::of).toList(),
                    status.waiters().stream().map(Owner::of).toList());
        }
    }

    /**
     * A holder or waiter; see {@link LockHolder}. What the store does not show is null.
     *
     * @param owner the owner id; null if another library or tool made the entry
     * @param host the host of the process
     * @param pid the process id
     * @param since when the process requested the lock
     * @param token the fencing token
     * @param metadata the metadata of the lock's options
     */
    public record Owner(
            @Nullable String owner,
            @Nullable String host,
            @Nullable Long pid,
            @Nullable Instant since,
            @Nullable Long token,
            Map<String, String> metadata) {
        static Owner of(LockHolder holder) {
            return new Owner(
                    holder.owner().orElse(null),
                    holder.host().orElse(null),
                    holder.pid().isPresent() ? holder.pid().getAsLong() : null,
                    holder.since().orElse(null),
                    holder.token().isPresent() ? holder.token().getAsLong() : null,
                    holder.metadata());
        }
    }

    /**
     * The result of a forced release.
     *
     * @param released whether the grant held the lock, and was removed
     */
    public record ForcedRelease(boolean released) {}
}
