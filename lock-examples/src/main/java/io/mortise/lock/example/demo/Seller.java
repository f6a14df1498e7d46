// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.DistributedLock;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.inventory.StaleTokenException;
import io.mortise.lock.example.inventory.StockFile;
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
 * Sells items by read-modify-write of the stock file, as the commands on its standard input say.
 *
 * <pre>
 * open PATH             from now on that file, without the lock
 * connect URL           from now on with the lock
 * sell FLOOR MOST       sells while the stock is above FLOOR, at most MOST items
 * hold                  sells one item, but waits for "go" between its read and its write
 * </pre>
 */
final class Seller implements AutoCloseable {
    /** Long enough for processes to get in each other's way, short enough for a demo. */
    private static final int MAX_THINK_NANOS = 1_000_000;

    /** The store has answered the demo itself; what takes long here is that all processes load their client at once. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    private final String lockName;
    private final BlockingQueue<String> commands;
    private final Consumer<WorkerMessage> say;
    private @Nullable StockFile stock;
    private @Nullable LockClient client;
    private @Nullable DistributedLock lock;

    Seller(String lockName, BlockingQueue<String> commands, Consumer<WorkerMessage> say) {
        this.lockName = lockName;
        this.commands = commands;
        this.say = say;
    }

    void run() throws IOException, InterruptedException {
        say.accept(new WorkerMessage.Ready());
        while (true) {
            String[] command = commands.take().split(" ", 2);
            switch (command[0]) {
                case "open" -> stock = new StockFile(Path.of(command[1]));
                case "connect" -> connect(command[1]);
                case "hold" -> sale(0, this::awaitGo);
                case "sell" -> {
                    String[] limits = command[1].split(" ", -1);
                    sell(Integer.parseInt(limits[0]), Integer.parseInt(limits[1]));
                }
                default -> throw new IllegalStateException("unknown command " + command[0]);
            }
            say.accept(new WorkerMessage.Done());
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

    private void sell(int floor, int most) throws IOException, InterruptedException {
        for (int sold = 0; sold < most; ) {
            switch (sale(floor, Seller::think)) {
                case SOLD -> sold++;
                case REFUSED -> {} // the lock was lost on the way, which is what the token is for: read again
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
        StockFile file = Objects.requireNonNull(stock, "open comes first");
        OptionalLong token = lease == null ? OptionalLong.empty() : OptionalLong.of(lease.fencingToken());
        int left = SalesDemo.left(file);
        say.accept(new WorkerMessage.Read(left, token));
        if (left <= floor) {
            return Outcome.SOLD_OUT;
        }
        between.pause();
        if (lease == null) {
            file.writeUnfenced(SalesDemo.ITEM, left - 1);
        } else {
            try {
                // No isHeld() here: the demo shows that the resource refuses a late write even when the writer does not
                // check.
                file.write(SalesDemo.ITEM, left - 1, lease.fencingToken());
            } catch (StaleTokenException e) {
                say.accept(new WorkerMessage.Refused(lease.fencingToken(), e.highest(), lease.isHeld()));
                return Outcome.REFUSED;
            }
        }
        say.accept(new WorkerMessage.Sold(token));
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
