// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.Capability;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.inventory.FencedStockFile;
import io.mortise.lock.spi.LockUrl;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** Runs the demo against one lock store, first without and then with the lock, using the same worker processes. */
final class SalesDemo {
    /** Lease duration for stores with a lease per lock; short, so that the fault drills take only seconds. */
    static final Duration LEASE = Duration.ofSeconds(4);

    /** Name of the item for sale. */
    static final String ITEM = "lamp";

    private final String url;
    private final int workers;
    private final int items;
    private final boolean verbose;
    private final ProgressPrinter progress;
    private final Consumer<String> log;

    SalesDemo(String url, int workers, int items, boolean verbose, ProgressPrinter progress, Consumer<String> log) {
        this.url = url;
        this.workers = workers;
        this.items = items;
        this.verbose = verbose;
        this.progress = progress;
        this.log = log;
    }

    OverallDemoResult run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        String shownUrl = LockUrl.parse(url).toString();
        // Checks the URL and the server before any process is started, so that an error has its own message.
        try (LockClient probe = Locks.connect(url, Capability.FENCING)) {
            progress.line(shownUrl + " is reachable; starting " + workers + " worker processes");
        }
        // A unique name, so that two demos on one server do not wait for each other.
        String lockName = "mortise-demo/" + UUID.randomUUID();
        DemoDirectory dir = new DemoDirectory();
        WorkerProcesses processes = new WorkerProcesses(lockName, verbose, log);
        Thread atExit = new Thread(() -> cleanUp(processes, dir), "demo-exit");
        // Needed after Ctrl-C, since a paused worker would not notice the end of the demo.
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            for (int i = 0; i < workers; i++) {
                processes.startWorker();
            }
            processes.watch(
                    event -> {}, waited -> progress.status("  " + ready(processes) + " of " + workers + " started"));
            processes.awaitIdle("the workers to start");
            progress.line("1. " + items + " items, without the lock: read the stock, think, write the stock minus one");
            DemoRunResult without = new UnlockedDemoRun(processes, items, progress).run(file(dir, "without-lock"));
            progress.line("  " + without.sold() + " sold, but the stock went down by " + without.removed() + ": "
                    + without.lost() + " updates lost");
            progress.line("2. " + items + " items, with the lock, and its fencing token in each write");
            LockedDemoRun.Outcome with = new LockedDemoRun(processes, url, items, progress).run(file(dir, "with-lock"));
            progress.line("  " + with.run().sold() + " sold, and the stock went down by "
                    + with.run().removed() + ": " + with.run().lost() + " updates lost");
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            return new OverallDemoResult(
                    shownUrl, workers, items, without, with.run(), with.kill(), with.frozen(), took);
        } finally {
            cleanUp(processes, dir);
            removeHook(atExit);
        }
    }

    private static long ready(WorkerProcesses processes) {
        return processes.all().stream().filter(worker -> !worker.busy()).count();
    }

    static FencedStockFile newStock(Path file, int items) throws IOException {
        FencedStockFile.createIfMissing(file, Map.of(ITEM, items));
        return new FencedStockFile(file);
    }

    static int left(FencedStockFile stock) throws IOException {
        return stock.left(ITEM).orElseThrow();
    }

    private static Path file(DemoDirectory dir, String name) {
        return dir.path().resolve(name);
    }

    private static void cleanUp(WorkerProcesses processes, DemoDirectory dir) {
        processes.close();
        dir.close();
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is already shutting down, and the hook runs.
        }
    }
}
