// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.recipe;

import io.mortise.lock.Lease;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import io.mortise.lock.spi.LockName;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The leases of all locks of a {@link LockGroup}.
 *
 * <p>The group is lost as soon as its first lease is. The other leases are kept and renewed until the release, because the
 * application may still be at work under them. Thread-safe; belongs to no thread.
 */
public final class GroupLease implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(GroupLease.class);

    private final List<Lease> leases;
    private final CompletableFuture<Loss> lost = new CompletableFuture<>();

    /**
     * The loss of a group.
     *
     * @param lockName the name of the lock whose lease was lost first
     * @param reason why it was lost
     */
    public record Loss(String lockName, LossReason reason) {}

    /**
     * Creates the lease of a group whose locks have all been granted.
     *
     * @throws io.mortise.lock.LeaseLostException if one of them was lost meanwhile
     */
    GroupLease(List<Lease> leases) {
        this.leases = List.copyOf(leases);
        ensureHeld();
        for (Lease lease : this.leases) {
            lease.lost().thenAccept(reason -> lost.complete(new Loss(lease.lockName(), reason)));
        }
    }

    /** Returns the leases, in the order in which they were acquired: that of their names. */
    public List<Lease> leases() {
        return leases;
    }

    /**
     * Returns the lease of one lock.
     *
     * @throws IllegalArgumentException if the group has no lock of that name
     */
    public Lease lease(String lockName) {
        Objects.requireNonNull(lockName, "lockName");
        return leases.stream()
                .filter(lease -> lease.lockName().equals(lockName))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("lock \"" + LockName.shown(lockName)
                        + "\" is not in the group "
                        + leases.stream()
                                .map(lease -> LockName.shown(lease.lockName()))
                                .toList()));
    }

    /**
     * Returns the fencing token of each lock by its name (S3). Tokens of different locks are not comparable.
     *
     * @throws UnsupportedOperationException if a backend does not offer fencing tokens
     */
    public Map<String, Long> fencingTokens() {
        Map<String, Long> tokens = new LinkedHashMap<>();
        leases.forEach(lease -> tokens.put(lease.lockName(), lease.fencingToken()));
        return Collections.unmodifiableMap(tokens);
    }

    /** Returns whether all leases are certainly valid now, without I/O (S2). */
    public boolean isHeld() {
        return leases.stream().allMatch(Lease::isHeld);
    }

    /**
     * Throws an exception unless {@link #isHeld()} returns true.
     *
     * @throws io.mortise.lock.LeaseLostException with the name of a lock that was lost, and the reason
     */
    public void ensureHeld() {
        leases.forEach(Lease::ensureHeld);
    }

    /** Returns the time until the first lease ends if no further renewal succeeds; zero if the group is not held. */
    public Duration remaining() {
        return leases.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
    }

    /**
     * Returns a future that completes when the first lease is lost (S7), and not if the group is released before. Each call
     * returns a new future, which the group keeps until it is lost: register once, and poll {@link #isHeld()} instead.
     */
    public CompletableFuture<Loss> lost() {
        return lost.copy();
    }

    /**
     * Releases all leases at once, and waits as {@link Lease#release()} does. Idempotent.
     *
     * @return {@link ReleaseOutcome#LOST} if any of the leases was lost, else {@link ReleaseOutcome#UNKNOWN} if that is not known of
     *     any of them
     */
    public ReleaseOutcome release() {
        giveBack(leases);
        return worst(leases.stream().map(Lease::release).toList());
    }

    /** Releases all leases as {@link #release()} does, without blocking. */
    public CompletableFuture<ReleaseOutcome> releaseAsync() {
        giveBack(leases);
        List<CompletableFuture<ReleaseOutcome>> each =
                leases.stream().map(Lease::releaseAsync).toList();
        return CompletableFuture.allOf(each.toArray(CompletableFuture[]::new))
                .thenApply(
                        all -> worst(each.stream().map(CompletableFuture::join).toList()));
    }

    private static ReleaseOutcome worst(List<ReleaseOutcome> outcomes) {
        return outcomes.contains(ReleaseOutcome.LOST)
                ? ReleaseOutcome.LOST
                : outcomes.contains(ReleaseOutcome.UNKNOWN) ? ReleaseOutcome.UNKNOWN : ReleaseOutcome.RELEASED;
    }

    /** Starts to release leases, the last one first. A failure of one spares the others; Mortise's own leases do not fail. */
    static void giveBack(List<Lease> leases) {
        for (int i = leases.size() - 1; i >= 0; i--) {
            try {
                leases.get(i).releaseAsync();
            } catch (Throwable e) { // a lease of another library may throw anything
                log.warn(
                        "event=group-release-failed lock=\"{}\"",
                        LockName.shown(leases.get(i).lockName()),
                        e);
            }
        }
    }

    /** Releases all leases as {@link #release()} does, and logs a warning for each that was not held until here. Never throws. */
    @Override
    public void close() {
        giveBack(leases);
        leases.forEach(Lease::close);
    }

    @Override
    public String toString() {
        return "GroupLease" + leases;
    }
}
