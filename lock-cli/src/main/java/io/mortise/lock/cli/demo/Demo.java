// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import io.mortise.lock.Capability;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockUrl;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.function.Consumer;

/** The demo against one server: both runs, one after the other, with the same worker processes. */
final class Demo {
    /** Where the store has a lease per lock: short, so that the drills take seconds. */
    static final Duration LEASE = Duration.ofSeconds(4);

    private final String url;
    private final int workers;
    private final int items;
    private final boolean verbose;
    private final Progress progress;
    private final Consumer<String> log;

    Demo(String url, int workers, int items, boolean verbose, Progress progress, Consumer<String> log) {
        this.url = url;
        this.workers = workers;
        this.items = items;
        this.verbose = verbose;
        this.progress = progress;
        this.log = log;
    }

    Result run() throws IOException, InterruptedException {
        long start = System.nanoTime();
        String shownUrl = LockUrl.parse(url).toString();
        // Before any process is started: a wrong URL or a server that is down is found here, with its own message.
        try (LockClient probe = Locks.connect(url, Capability.FENCING)) {
            progress.line(shownUrl + " answers; starting " + workers + " worker processes");
        }
        // A name of its own, so that two demos on one server do not wait for each other.
        String lockName = "lockctl-demo/" + UUID.randomUUID();
        WorkDir dir = new WorkDir();
        Crew crew = new Crew(lockName, verbose, log);
        Thread atExit = new Thread(() -> cleanUp(crew, dir), "demo-exit");
        // Ctrl-C: a stopped worker would not notice by itself.
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            for (int i = 0; i < workers; i++) {
                crew.hire();
            }
            crew.watch(event -> {}, waited -> progress.tick("  " + ready(crew) + " of " + workers + " started"));
            crew.awaitIdle("the workers to start");
            progress.line("1. " + items + " items, without the lock: read the stock, think, write it less one");
            Run without = new UnlockedRun(crew, items, progress).run(file(dir, "without-lock"));
            progress.line("  " + without.sold() + " sold, but the stock went down by " + without.removed() + ": "
                    + without.lost() + " updates lost");
            progress.line("2. " + items + " items, with the lock, and its fencing token in each write");
            LockedRun.Result with = new LockedRun(crew, url, items, progress).run(file(dir, "with-lock"));
            progress.line("  " + with.run().sold() + " sold, and the stock went down by "
                    + with.run().removed() + ": " + with.run().lost() + " updates lost");
            Duration took = Duration.ofNanos(System.nanoTime() - start);
            return new Result(shownUrl, workers, items, without, with.run(), with.kill(), with.frozen(), took);
        } finally {
            cleanUp(crew, dir);
            removeHook(atExit);
        }
    }

    private static long ready(Crew crew) {
        return crew.workers().stream().filter(worker -> !worker.busy()).count();
    }

    private static Path file(WorkDir dir, String name) {
        return dir.path().resolve(name);
    }

    private static void cleanUp(Crew crew, WorkDir dir) {
        crew.close();
        dir.close();
    }

    private static void removeHook(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending already, and the hook runs.
        }
    }
}
