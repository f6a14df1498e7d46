// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.inventory.FencedStockFile;
import io.mortise.lock.example.inventory.StaleTokenException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Worker of the demo that sells items by read-modify-write of the stock file, following the commands that it reads from the
 * demo.
 *
 * <pre>
 * open PATH             uses this stock file, without the lock
 * connect URL           uses the lock from now on
 * sell FLOOR MAX        sells at max MAX items, while the stock is above FLOOR
 * hold                  sells one item, but waits for "go" between its read and its write
 * </pre>
 */
final class Seller implements AutoCloseable {
    /** Maximum pause between read and write; long enough that workers interfere, short enough for a demo. */
    private static final int MAX_THINK_NANOS = 1_000_000;

    /** Options with a long timeout, since all workers load their client together; the store has already been checked. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private final String lockName;
    private final BlockingQueue<String> commands;
    private final Consumer<WorkerMessage> report;
    private @Nullable FencedStockFile stock;
    private @Nullable LockClient client;
    private @Nullable DistributedLock lock;

    /**
     * Creates a seller; {@link #run} executes its commands.
     *
     * @param lockName name of the lock
     * @param commands the commands to execute
     * @param report receives the messages to the demo
     */
    Seller(String lockName, BlockingQueue<String> commands, Consumer<WorkerMessage> report) {
        this.lockName = lockName;
        this.commands = commands;
        this.report = report;
    }

    void run() throws IOException, InterruptedException {
        report.accept(new WorkerMessage.Ready());
        while (true) {
            String[] command = commands.take().split(" ", 2);
            switch (command[0]) {
                case "open" -> stock = new FencedStockFile(Path.of(command[1]));
                case "connect" -> connect(command[1]);
                case "hold" -> sale(0, this::awaitGo);
                case "sell" -> {
                    String[] limits = command[1].split(" ", -1);
                    sell(Integer.parseInt(limits[0]), Integer.parseInt(limits[1]));
                }
                default -> throw new IllegalStateException("unknown command " + command[0]);
            }
            report.accept(new WorkerMessage.Done());
        }
    }

    private void connect(String url) {
        LockClient connected = Locks.connect(url, LONG_TIMEOUTS, Capability.FENCING);
        client = connected;
        LockOptions options = connected.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? LockOptions.defaults().leaseDuration(SalesDemo.LEASE)
                : LockOptions.defaults();
        lock = connected.named(lockName, options);
    }

    private void sell(int floor, int max) throws IOException, InterruptedException {
        for (int sold = 0; sold < max; ) {
            switch (sale(floor, Seller::think)) {
                case SOLD -> sold++;
                case REFUSED -> {} // the lock was lost, and the token prevented a lost update: read again
                case SOLD_OUT -> {
                    return;
                }
            }
        }
    }

    private Outcome sale(int floor, Pause between) throws IOException, InterruptedException {
        if (lock == null) {
            return sale(floor, between, null);
        }
        try (Lease lease = lock.acquire()) {
            return sale(floor, between, lease);
        }
    }

    private Outcome sale(int floor, Pause between, @Nullable Lease lease) throws IOException, InterruptedException {
        FencedStockFile file = Objects.requireNonNull(stock, "the command open must come first");
        OptionalLong token = lease == null ? OptionalLong.empty() : OptionalLong.of(lease.fencingToken());
        try {
            int left = lease == null ? SalesDemo.left(file) : file.fenceAndRead(SalesDemo.ITEM, lease.fencingToken());
            report.accept(new WorkerMessage.Read(left, token));
            if (left <= floor) {
                return Outcome.SOLD_OUT;
            }
            between.pause();
            if (lease == null) {
                file.writeUnfenced(SalesDemo.ITEM, left - 1);
            } else {
                // Deliberately no isHeld() here: the demo shows that the resource refuses a late write even if the
                // writer does not check.
                file.write(SalesDemo.ITEM, left - 1, lease.fencingToken());
            }
        } catch (StaleTokenException e) {
            boolean held = lease != null && lease.isHeld();
            report.accept(new WorkerMessage.Refused(token.orElseThrow(), e.highest(), held));
            return Outcome.REFUSED;
        }
        report.accept(new WorkerMessage.Sold(token));
        return Outcome.SOLD;
    }

    private void awaitGo() throws InterruptedException {
        String command = commands.take();
        if (!command.equals("go")) {
            throw new IllegalStateException("expected go, got " + command);
        }
    }

    /** Stands for the work that an application does between reading and writing. */
    private static void think() {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(MAX_THINK_NANOS));
    }

    @Override
    public void close() {
        if (client != null) {
            client.close();
        }
    }

    private enum Outcome {
        SOLD,
        REFUSED,
        SOLD_OUT
    }

    private interface Pause {
        void pause() throws InterruptedException;
    }
}
