// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A randomly generated sequence of lock operations, which a test runs against a backend. If it does not agree with the model,
 * it is shortened until no operation can be left out.
 *
 * <p>An operation consists of random numbers, which refer to what there is at that moment, such as "the second of the leases that
 * are held". So each part of a sequence is a sequence too.
 */
final class RandomOperationsRunner {
    private static final int CLIENTS = 3;
    private static final int LOCKS = 3;

    /** Limits of the search for a shorter sequence. */
    private static final Duration SHORTENING = Duration.ofSeconds(45);

    private static final AtomicInteger RUNS = new AtomicInteger();

    private final ContractTestFixture fixture;
    private final long seed;
    private final List<Operation> operations = new ArrayList<>();

    /**
     * An operation, in random numbers.
     *
     * @param kind selects what is done
     * @param first selects the client, the lease or the waiter
     * @param second selects the lock or the fault
     * @param third selects a variant
     */
    record Operation(int kind, int first, int second, int third) {}

    RandomOperationsRunner(ContractTestFixture fixture, long seed, int length) {
        this.fixture = fixture;
        this.seed = seed;
        Random random = new Random(seed);
        for (int i = 0; i < length; i++) {
            operations.add(new Operation(
                    random.nextInt(1000), random.nextInt(1000), random.nextInt(1000), random.nextInt(1000)));
        }
    }

    /** Runs the sequence, and fails with its shortest failing part. */
    void run() throws InterruptedException {
        Failure failure = failureOf(operations);
        if (failure == null) {
            return;
        }
        long start = System.nanoTime();
        List<Operation> shortest = operations.subList(0, failure.steps());
        for (int part = Math.max(1, shortest.size() / 2); part > 0; part /= 2) {
            for (int from = 0;
                    from < shortest.size() && DurationAssertions.since(start).compareTo(SHORTENING) < 0; ) {
                List<Operation> shorter = new ArrayList<>(shortest.subList(0, from));
                shorter.addAll(shortest.subList(Math.min(shortest.size(), from + part), shortest.size()));
                Failure again = failureOf(shorter);
                if (again == null) {
                    from += part;
                } else {
                    failure = again;
                    shortest = shorter.subList(0, again.steps());
                }
            }
        }
        throw new AssertionError(
                "%s%nafter these operations (repeat all with -Dmortise.kit.seed=%d):%n%s"
                        .formatted(failure.cause().getMessage(), seed, String.join("\n", failure.trace())),
                failure.cause());
    }

    /** The failure of a sequence: what failed, after how many operations, and what was done until then. */
    private record Failure(Throwable cause, int steps, List<String> trace) {}

    private @Nullable Failure failureOf(List<Operation> sequence) throws InterruptedException {
        int run = RUNS.incrementAndGet();
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(fixture.client(ModelledLocks.OPTIONS));
        }
        ModelledLocks model = new ModelledLocks(fixture, clients, LOCKS, "random/" + run);
        int steps = 0;
        try {
            for (Operation operation : sequence) {
                steps++;
                model.apply(operation);
            }
            model.end();
            return null;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception | AssertionError e) {
            return new Failure(e, steps, model.trace());
        } finally {
            model.close();
        }
    }
}
