// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LockStatus;
import io.mortise.lock.LossReason;
import io.mortise.lock.ReleaseOutcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * A model of several locks that follows the rules: each operation is applied to the model and to the locks in the store, and
 * the results are compared.
 *
 * <p>One thread applies all operations, so the model always knows which client holds a lock and which wait for it. Not
 * thread-safe.
 */
final class ModelledLocks implements AutoCloseable {
    static final ClientOptions OPTIONS = ClientOptions.defaults()
            .connectTimeout(ContractTestFixture.LONG)
            .requestTimeout(Duration.ofSeconds(2))
            .unavailableAfter(Duration.ofDays(1));

    private static final Duration SHORT_FAULT = Duration.ofMillis(150);

    /** The lease of the first lock, so long that no expiry hides a grant or a waiter that was left behind. */
    private static final Duration LONG_LEASE = Duration.ofMinutes(10);

    /** A request whose reply is lost is repeated after a request timeout. */
    private static final Duration WITHDRAWN_WITHIN = OPTIONS.requestTimeout().plus(ContractTestFixture.PROMPT);

    private static final Duration SHORT_WAIT = Duration.ofMillis(120);

    /** Kinds of operations with their weights. */
    private enum Kind {
        TRY(16),
        WAIT(20),
        WAIT_IN_VAIN(4),
        RELEASE(20),
        RELEASE_AGAIN(6),
        CANCEL(8),
        INTERRUPT(3),
        RUN(4),
        REMOVE(6),
        CLOSE(4),
        FAULT(6),
        END_DURING_FAULT(8),
        FALL_SILENT(1),
        HOLD(3),
        STATUS(4);

        final int weight;

        Kind(int weight) {
            this.weight = weight;
        }

        static Kind of(int number) {
            int rest = number
                    % Arrays.stream(values()).mapToInt(kind -> kind.weight).sum();
            for (Kind kind : values()) {
                rest -= kind.weight;
                if (rest < 0) {
                    return kind;
                }
            }
            throw new IllegalStateException();
        }
    }

    /** A lease, and what the model knows of it. */
    private static final class ModelledLease {
        final Lease lease;
        final int client;
        final int lock;
        final List<LossReason> losses = new CopyOnWriteArrayList<>();
        boolean held = true;

        /** Whether the lease ended by a loss, which its listeners are told, and not by a release. */
        boolean lost;

        /** The outcome of every later release. */
        ReleaseOutcome outcome = ReleaseOutcome.RELEASED;

        ModelledLease(Lease lease, int client, int lock) {
            this.lease = lease;
            this.client = client;
            this.lock = lock;
            lease.lost().thenAccept(losses::add);
        }

        @Override
        public String toString() {
            return "lease of client " + client + " on lock " + lock;
        }
    }

    /** A request that waits. */
    private record Waiter(CompletableFuture<Optional<Lease>> granted, Future<?> call, int client, int lock) {
        @Override
        public String toString() {
            return "waiter of client " + client + " for lock " + lock;
        }
    }

    private final ContractTestFixture fixture;
    private final List<LockClient> clients;
    private final List<String> names = new ArrayList<>();
    private final List<LockOptions> options = new ArrayList<>();
    private final boolean fair;
    private final boolean fencing;
    private final boolean perLockLease;
    private final boolean firstIsLong;
    private final List<@Nullable ModelledLease> holders = new ArrayList<>();
    private final List<Long> tokens = new ArrayList<>();
    private final List<List<Waiter>> queues = new ArrayList<>();
    private final List<ModelledLease> leases = new ArrayList<>();
    private final List<String> trace = new ArrayList<>();

    /** Locks whose latest waiter gave up: its withdrawal is executed in the background, and may have to return a grant first. */
    private final Set<Integer> withdrawn = new HashSet<>();

    ModelledLocks(ContractTestFixture fixture, List<LockClient> clients, int locks, String prefix) {
        this.fixture = fixture;
        this.clients = clients;
        LockClient any = clients.get(0);
        this.fair = any.capabilities().contains(Capability.FAIR) && any.admin().isPresent();
        this.fencing = any.capabilities().contains(Capability.FENCING);
        this.perLockLease = any.capabilities().contains(Capability.PER_LOCK_LEASE);
        this.firstIsLong = perLockLease && ContractTestFixture.grants(any, LONG_LEASE);
        Duration lease = fixture.backend().lease();
        for (int lock = 0; lock < locks; lock++) {
            names.add(prefix + "/" + "Aa".repeat(lock) + "BB".repeat(locks - lock)); // of one length and hash code
            options.add(
                    perLockLease
                            ? LockOptions.defaults()
                                    .leaseDuration(
                                            isLong(lock)
                                                    ? LONG_LEASE
                                                    : ContractTestFixture.firstGranted(
                                                            any, lease.plusMillis(637L * lock), lease))
                            : LockOptions.defaults());
            holders.add(null);
            tokens.add(Long.MIN_VALUE);
            queues.add(new ArrayList<>());
        }
    }

    /** Returns what was done so far, a line each. */
    List<String> trace() {
        return trace;
    }

    void apply(RandomOperationsRunner.Operation operation) throws Exception {
        int client = operation.first() % clients.size();
        int lock = operation.second() % names.size();
        switch (Kind.of(operation.kind())) {
            case TRY -> attempt(client, lock, operation.third());
            case WAIT -> enqueue(client, lock, operation.third());
            case WAIT_IN_VAIN -> waitInVain(client, lock, operation.third());
            case RELEASE -> release(operation.first(), operation.third());
            case RELEASE_AGAIN -> releaseAgain(operation.first(), operation.third());
            case CANCEL -> cancel(operation.first());
            case INTERRUPT -> interrupt(client, lock);
            case RUN -> runBody(client, lock);
            case REMOVE -> remove(client, lock);
            case CLOSE -> close(client);
            case FAULT -> fault(client, operation.second());
            case END_DURING_FAULT -> endDuringFault(client, operation.second(), operation.third());
            case FALL_SILENT -> fallSilent(client);
            case HOLD -> hold(fixture.backend().lease().dividedBy(2));
            case STATUS -> status(client, lock);
        }
        compare();
    }

    private DistributedLock lock(int client, int lock) {
        return clients.get(client).named(names.get(lock), options.get(lock));
    }

    private void step(String text) {
        trace.add((trace.size() + 1) + ". " + text);
    }

    private boolean isLong(int lock) {
        return lock == 0 && firstIsLong;
    }

    private boolean isFree(int lock) {
        return holders.get(lock) == null;
    }

    private void attempt(int client, int lock, int variant) throws Exception {
        step("client %d attempts lock %d, which is %s".formatted(client, lock, isFree(lock) ? "free" : "held"));
        ApiStyle style = style(variant);
        Optional<Lease> lease;
        try {
            Duration once = variant % 3 == 0 ? ContractTestFixture.PROMPT.dividedBy(20) : Duration.ZERO;
            boolean busyForAMoment = isFree(lock) && withdrawn.remove(lock);
            lease = style.tryAcquire(lock(client, lock), busyForAMoment ? ContractTestFixture.PROMPT : once);
        } catch (
                BackendUnavailableException
                        e) { // no reply in so short a time (S15); a possible grant is withdrawn (S8)
            lease = isFree(lock) ? style.tryAcquire(lock(client, lock), ContractTestFixture.LONG) : Optional.empty();
        }
        if (isFree(lock)) {
            assertThat(lease).as("S09: a free lock, attempted").isPresent();
            granted(lease.orElseThrow(), client, lock);
        } else {
            assertThat(lease).as("S01: a held lock, attempted").isEmpty();
        }
    }

    private static ApiStyle style(int variant) {
        return variant % 2 == 0 ? ApiStyle.SYNC : ApiStyle.ASYNC;
    }

    private void enqueue(int client, int lock, int variant) throws Exception {
        if (variant % 4 != 0 && isFree(lock) && variant % 2 == 0) {
            attempt(client, lock, variant);
            return;
        }
        step("client %d waits for lock %d, which is %s".formatted(client, lock, isFree(lock) ? "free" : "held"));
        CompletableFuture<Optional<Lease>> granted;
        Future<?> call;
        if (variant % 3 == 0) {
            CompletableFuture<Lease> future = lock(client, lock).acquireAsync();
            granted = future.thenApply(Optional::of);
            call = future;
        } else if (variant % 3 == 1) {
            CompletableFuture<Optional<Lease>> future =
                    lock(client, lock).tryAcquireAsync(Duration.ofDays(1 + variant));
            granted = future.thenApply(lease -> lease);
            call = future;
        } else {
            CompletableFuture<Optional<Lease>> future = new CompletableFuture<>();
            granted = future;
            CompletableFuture<Void> started = new CompletableFuture<>();
            call = fixture.start(() -> {
                started.complete(null);
                try {
                    return future.complete(Optional.of(lock(client, lock).acquire()));
                } catch (InterruptedException | RuntimeException e) {
                    return future.completeExceptionally(e);
                }
            });
            ApiStyle.result(started); // a task that is cancelled before it starts never runs
        }
        queues.get(lock).add(new Waiter(granted, call, client, lock));
        if (isFree(lock)) {
            grantNext(lock, ContractTestFixture.PROMPT);
        } else if (fair) {
            awaitInStore(lock);
        }
    }

    /** Waits until the store knows the newest waiter, unless that waiter queues behind another one of its client. */
    private void awaitInStore(int lock) throws Exception {
        int known = (int)
                queues.get(lock).stream().mapToInt(Waiter::client).distinct().count();
        ContractTestFixture.awaitWaiters(clients.get(0), names.get(lock), known);
    }

    private void waitInVain(int client, int lock, int variant) throws Exception {
        if (isFree(lock)) {
            return;
        }
        step("client %d waits %s for lock %d, which is held".formatted(client, SHORT_WAIT, lock));
        ContractTestFixture.assertWaitFails(style(variant), lock(client, lock), SHORT_WAIT);
        withdrawn.add(lock);
    }

    private void release(int number, int variant) throws Exception {
        List<ModelledLease> held = leases.stream().filter(one -> one.held).toList();
        if (held.isEmpty()) {
            return;
        }
        ModelledLease lease = held.get(number % held.size());
        step("the %s is released".formatted(lease));
        ReleaseOutcome outcome = style(variant).release(lease.lease);
        assertThat(outcome).as("S05: of the %s", lease).isEqualTo(ReleaseOutcome.RELEASED);
        ended(lease, ReleaseOutcome.RELEASED);
        grantNext(lease.lock, ContractTestFixture.PROMPT);
    }

    private void releaseAgain(int number, int variant) throws Exception {
        List<ModelledLease> ended = leases.stream().filter(one -> !one.held).toList();
        if (ended.isEmpty()) {
            return;
        }
        ModelledLease lease = ended.get(number % ended.size());
        step("the %s, which has ended, is released".formatted(lease));
        ReleaseOutcome outcome = style(variant).release(lease.lease);
        assertThat(outcome).as("S05: of the %s, which has ended", lease).isEqualTo(lease.outcome);
    }

    private void cancel(int number) throws Exception {
        List<Waiter> waiting = queues.stream().flatMap(List::stream).toList();
        if (waiting.isEmpty()) {
            return;
        }
        Waiter waiter = waiting.get(number % waiting.size());
        step("the %s is cancelled".formatted(waiter));
        cancel(waiter);
        withdrawn.add(waiter.lock());
        queues.get(waiter.lock()).remove(waiter);
    }

    /** Cancels a request that waits; S10: if it is a thread that is interrupted, a grant of the same moment may still win. */
    private static void cancel(Waiter waiter) throws InterruptedException {
        waiter.call().cancel(true);
        Throwable end = catchThrowable(() -> ApiStyle.result(waiter.granted()).ifPresent(Lease::release));
        assertThat(end instanceof AssertionError)
                .as("S10: the %s has ended", waiter)
                .isFalse();
    }

    private void interrupt(int client, int lock) throws Exception {
        if (isFree(lock)) {
            return;
        }
        step("a thread of client %d that waits for lock %d is interrupted".formatted(client, lock));
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Future<Throwable> waiting = fixture.start(() -> {
            thread.complete(Thread.currentThread());
            return catchThrowable(() -> lock(client, lock).tryAcquire(ContractTestFixture.LONG));
        });
        Thread waiter = ApiStyle.result(thread);
        ContractTestFixture.eventually(
                "the thread waits", ContractTestFixture.LONG, () -> ContractTestFixture.isWaiting(waiter));
        waiter.interrupt();
        assertThat(ApiStyle.result(waiting)).as("S10").isInstanceOf(InterruptedException.class);
        withdrawn.add(lock);
    }

    private void runBody(int client, int lock) throws Exception {
        if (!isFree(lock)) {
            return;
        }
        step("client %d runs a body under lock %d".formatted(client, lock));
        int other = (client + 1) % clients.size();
        long token = lock(client, lock).call(lease -> {
            assertThat(lock(other, lock).tryAcquire())
                    .as("S01: while a body runs")
                    .isEmpty();
            assertThat(lock(client, lock).tryAcquire())
                    .as("S04: while a body runs")
                    .isEmpty();
            return fencing ? lease.fencingToken() : 0;
        });
        checkToken(lock, token);
    }

    private void remove(int client, int lock) throws Exception {
        ModelledLease holder = holders.get(lock);
        boolean notifiedLate = isLong(lock)
                && !fixture.backend().removalNotifiedWithin().isZero(); // at the next renewal, minutes from now
        if (holder == null || notifiedLate) {
            return;
        }
        step("the grant of the %s is removed".formatted(holder));
        try {
            fixture.removeGrant(names.get(lock), clients.get(client), "S07");
        } catch (TestAbortedException e) { // this backend has no way to do it: nothing has changed
            step("it cannot be removed");
            return;
        }
        awaitLoss(
                holder,
                fixture.backend().removalNotifiedWithin().multipliedBy(2).plus(ContractTestFixture.PROMPT));
        assertThat(holder.losses)
                .as("S07: of the %s", holder)
                .extracting(LossReason::kind)
                .containsExactly(LossReason.Kind.REMOVED);
        ended(holder, ReleaseOutcome.LOST);
        grantNext(lock, fixture.backend().takeoverWithin());
    }

    private void close(int client) throws Exception {
        step("client %d closes, and a new one takes its place".formatted(client));
        clients.get(client).close();
        for (List<Waiter> queue : queues) {
            for (Waiter waiter : List.copyOf(queue)) {
                if (waiter.client() == client) {
                    queue.remove(waiter);
                    assertThat(catchThrowable(() -> ApiStyle.result(waiter.granted())))
                            .as("S16: of the %s", waiter)
                            .hasStackTraceContaining(ClientClosedException.class.getName());
                }
            }
        }
        List<ModelledLease> closed = heldBy(client);
        for (ModelledLease lease : closed) {
            ContractTestFixture.eventually(
                    "S16: the " + lease + " is told that its client closes",
                    ContractTestFixture.PROMPT,
                    () -> !lease.losses.isEmpty());
            assertThat(lease.losses).extracting(LossReason::kind).containsExactly(LossReason.Kind.CLIENT_CLOSED);
            ended(lease, lease.lease.release());
        }
        clients.set(client, fixture.client(OPTIONS));
        for (ModelledLease lease : closed) {
            grantNext(lease.lock, ContractTestFixture.PROMPT);
        }
    }

    private void fault(int client, int kind) throws Exception {
        List<LinkFault> faults = List.of(LinkFault.SILENCE, LinkFault.CUT);
        String name = List.of("is silent", "is cut off").get(kind % 2);
        if (!fixture.faultInjector().tryInject(clients.get(client), faults.get(kind % 2))) {
            return;
        }
        step("client %d %s for %s".formatted(client, name, SHORT_FAULT));
        ContractTestFixture.letPass("the fault lasts", SHORT_FAULT);
        heal(client);
        if (!perLockLease) {
            endLostLeases(client);
        }
    }

    /** A lease is released, or a waiter leaves, while its client's requests or their replies are lost or late. */
    private void endDuringFault(int client, int kind, int variant) throws Exception {
        List<ModelledLease> held = heldBy(client);
        List<Waiter> waiting = queues.stream()
                .flatMap(List::stream)
                .filter(waiter -> waiter.client() == client)
                .toList();
        List<LinkFault> faults = List.of(
                LinkFault.SILENCE,
                LinkFault.CUT,
                LinkFault.LOST_REPLY,
                new LinkFault.Delay(SHORT_FAULT.dividedBy(2L * fixture.backend().roundTripsPerCall())));
        String name =
                List.of("is silent", "is cut off", "misses a reply", "is slow").get(kind % 4);
        if ((held.isEmpty() && waiting.isEmpty())
                || !fixture.faultInjector().tryInject(clients.get(client), faults.get(kind % 4))) {
            return;
        }
        boolean release = waiting.isEmpty() || (!held.isEmpty() && variant % 2 == 0);
        step("client %d %s for %s, and the %s ends"
                .formatted(
                        client,
                        name,
                        SHORT_FAULT,
                        release ? held.get(variant % held.size()) : waiting.get(variant % waiting.size())));
        if (release) {
            releaseDuringFault(held.get(variant % held.size()));
        } else {
            Waiter waiter = waiting.get(variant % waiting.size());
            cancel(waiter);
            queues.get(waiter.lock()).remove(waiter);
            withdrawn.add(waiter.lock());
            healAfter(client);
            if (fair) {
                ContractTestFixture.eventually(
                        "S10: the " + waiter + " has left the store",
                        WITHDRAWN_WITHIN,
                        () -> waitersLeft(waiter.lock()));
            }
        }
        if (!perLockLease) {
            endLostLeases(client);
        }
    }

    private boolean waitersLeft(int lock) throws InterruptedException {
        LockStatus status = ContractTestFixture.await(lock(0, lock).status());
        return status.waiters().size() <= queues.get(lock).size();
    }

    private void healAfter(int client) throws Exception {
        ContractTestFixture.letPass("the fault lasts", SHORT_FAULT);
        fixture.faultInjector().tryInject(clients.get(client), LinkFault.NO_DELAY);
        heal(client);
    }

    private void releaseDuringFault(ModelledLease lease) throws Exception {
        CompletableFuture<ReleaseOutcome> outcome = lease.lease.releaseAsync();
        healAfter(lease.client);
        ReleaseOutcome released = ApiStyle.result(outcome);
        if (perLockLease) {
            assertThat(released).as("S05: of the %s", lease).isNotEqualTo(ReleaseOutcome.LOST);
        }
        ended(lease, released);
        lease.lost = !lease.losses.isEmpty(); // a session may have ended first
        if (queues.get(lease.lock).isEmpty()) {
            int other = (lease.client + 1) % clients.size();
            Optional<Lease> next = lock(other, lease.lock).tryAcquire(WITHDRAWN_WITHIN);
            assertThat(next)
                    .as("S08: the lock of the %s, whose release was disturbed", lease)
                    .isPresent();
            granted(next.orElseThrow(), other, lease.lock);
        } else {
            grantNext(lease.lock, WITHDRAWN_WITHIN);
        }
    }

    /** Ends the fault of a client. Afterwards it works again, and what it holds is either held or reported as lost. */
    private void heal(int client) throws InterruptedException {
        fixture.faultInjector().heal(clients.get(client));
        clients.get(client)
                .named(names.get(0) + "/other")
                .tryAcquire(ContractTestFixture.LONG)
                .orElseThrow()
                .release();
    }

    private static void awaitLoss(ModelledLease lease, Duration within) throws Exception {
        ContractTestFixture.eventually(
                "S07: the loss of the " + lease + " is announced", within, () -> !lease.losses.isEmpty());
    }

    /** A session may end with its connection; then its leases are lost and the model follows. */
    private void endLostLeases(int client) throws Exception {
        for (ModelledLease lease : heldBy(client)) {
            if (!lease.lease.isHeld()) {
                awaitLoss(lease, ContractTestFixture.PROMPT);
                ended(lease, ReleaseOutcome.LOST);
                grantNext(lease.lock, fixture.backend().takeoverWithin());
            }
        }
    }

    private void fallSilent(int client) throws Exception {
        List<ModelledLease> silent =
                heldBy(client).stream().filter(lease -> !isLong(lease.lock)).toList();
        boolean takenOver = clients.get(client).capabilities().contains(Capability.CRASH_RELEASE);
        boolean waits = queues.stream().flatMap(List::stream).anyMatch(waiter -> waiter.client() == client);
        if (silent.isEmpty()
                || waits
                || !takenOver
                || !fixture.faultInjector().tryInject(clients.get(client), LinkFault.SILENCE)) {
            return;
        }
        step("client %d is silent until its leases end: %s".formatted(client, silent));
        Duration bound =
                fixture.backend().takeoverWithin().plus(fixture.backend().lease());
        for (ModelledLease lease : silent) {
            ContractTestFixture.eventually("S02: the " + lease + " ends", bound, () -> {
                queues.get(lease.lock)
                        .forEach(waiter -> assertThat(waiter.granted().isDone() && lease.lease.isHeld())
                                .as("S02: two leases of lock %d are held", lease.lock)
                                .isFalse());
                return !lease.lease.isHeld();
            });
            ended(lease, ReleaseOutcome.LOST);
            grantNext(lease.lock, bound);
        }
        for (ModelledLease lease : silent) {
            if (isFree(lease.lock)) {
                int other = (client + 1) % clients.size();
                Optional<Lease> next = lock(other, lease.lock).tryAcquire(bound);
                assertThat(next).as("S11: the lock of a silent holder").isPresent();
                granted(next.orElseThrow(), other, lease.lock);
            }
        }
        heal(client);
        for (ModelledLease lease : silent) {
            awaitLoss(lease, ContractTestFixture.PROMPT);
        }
    }

    private void hold(Duration time) throws Exception {
        step("%s passes".formatted(time));
        ContractTestFixture.letPass("time passes", time);
    }

    private void status(int client, int lock) throws Exception {
        if (!clients.get(client).capabilities().contains(Capability.HOLDER_INFO)) {
            return;
        }
        step("client %d reads the status of lock %d".formatted(client, lock));
        LockStatus status = ContractTestFixture.await(lock(client, lock).status());
        ModelledLease holder = holders.get(lock);
        assertThat(status.holders())
                .as("S18: holders of lock %d", lock)
                .hasSize(holder == null ? 0 : 1)
                .allSatisfy(seen -> assertThat(seen.owner().orElse("")).contains(holder.lease.ownerId()));
    }

    /** Compares the state of all leases and waiters with the model. */
    private void compare() throws Exception {
        for (ModelledLease one : leases) {
            if (one.held) {
                assertThat(one.lease.isHeld())
                        .as("S07: the %s is held; announced: %s", one, one.losses)
                        .isTrue();
                assertThat(one.losses)
                        .as("S07: announced for the %s, which is held", one)
                        .isEmpty();
            } else {
                assertThat(one.lease.isHeld())
                        .as("S06: the %s, which has ended, is held", one)
                        .isFalse();
                if (one.lost) {
                    assertThat(one.losses).as("S07: announced for the %s", one).hasSize(1);
                } else {
                    assertThat(one.losses)
                            .as("S07: announced for the %s, which was released", one)
                            .isEmpty();
                }
            }
        }
        for (List<Waiter> queue : queues) {
            for (Waiter waiter : queue) {
                assertThat(waiter.granted().isDone())
                        .as("S01: the %s has ended, though the lock is held", waiter)
                        .isFalse();
            }
        }
    }

    /**
     * Waits until the store has granted the lock to a waiter, if there is one: on a fair backend to the first of its client.
     */
    private void grantNext(int lock, Duration within) throws Exception {
        List<Waiter> queue = queues.get(lock);
        if (queue.isEmpty() || !isFree(lock)) {
            return;
        }
        ContractTestFixture.eventually(
                "S11: lock " + lock + " is granted to one of " + queue,
                within,
                () -> queue.stream().anyMatch(waiter -> waiter.granted().isDone()));
        Waiter next = queue.stream()
                .filter(waiter -> waiter.granted().isDone())
                .findFirst()
                .orElseThrow();
        if (fair) {
            assertThat(queue.indexOf(next))
                    .as("S12: position of the %s in %s", next, queue)
                    .isZero();
        }
        queue.remove(next);
        granted(ApiStyle.result(next.granted()).orElseThrow(), next.client(), lock);
    }

    private void granted(Lease lease, int client, int lock) {
        ModelledLease modelled = new ModelledLease(lease, client, lock);
        assertThat(lease.lockName()).isEqualTo(names.get(lock));
        assertThat(lease.isHeld())
                .as("S02: the %s, which was just granted, is held", modelled)
                .isTrue();
        if (fencing) {
            checkToken(lock, lease.fencingToken());
        }
        holders.set(lock, modelled);
        leases.add(modelled);
    }

    private void checkToken(int lock, long token) {
        if (fencing) {
            assertThat(token).as("S03: token of lock %d", lock).isGreaterThan(tokens.get(lock));
            tokens.set(lock, token);
        }
    }

    private void ended(ModelledLease lease, ReleaseOutcome outcome) {
        lease.held = false;
        lease.lost = outcome == ReleaseOutcome.LOST;
        lease.outcome = outcome;
        holders.set(lease.lock, null);
    }

    private List<ModelledLease> heldBy(int client) {
        return leases.stream().filter(one -> one.held && one.client == client).toList();
    }

    /** Releases everything, and asserts that each lock can be acquired by each client. */
    void end() throws Exception {
        step("everything is released");
        for (List<Waiter> queue : queues) {
            for (Waiter waiter : queue) {
                cancel(waiter);
            }
            queue.clear();
        }
        for (ModelledLease lease : leases) {
            if (lease.held) {
                assertThat(lease.lease.release()).as("S05: of the %s", lease).isEqualTo(ReleaseOutcome.RELEASED);
                ended(lease, ReleaseOutcome.RELEASED);
            }
        }
        compare();
        for (int lock = 0; lock < names.size(); lock++) {
            for (LockClient client : clients) {
                fixture.assertFree(client, names.get(lock));
            }
        }
        compare();
    }

    @Override
    public void close() {
        queues.forEach(queue -> queue.forEach(waiter -> waiter.call().cancel(true)));
        clients.forEach(LockClient::close);
    }
}
