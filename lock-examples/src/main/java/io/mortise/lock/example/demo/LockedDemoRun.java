// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.example.demo.WorkerProcesses.Event;
import io.mortise.lock.example.inventory.FencedStockFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Runs the demo with the lock until the stock is sold out, killing one lock holder and freezing another. */
final class LockedDemoRun {
    private final WorkerProcesses workers;
    private final String url;
    private final int items;
    private final ProgressPrinter progress;
    private final DemoRunTally sales = new DemoRunTally();
    private String activity = "";

    LockedDemoRun(WorkerProcesses workers, String url, int items, ProgressPrinter progress) {
        this.workers = workers;
        this.url = url;
        this.items = items;
        this.progress = progress;
    }

    /** Results of the run and of its two fault drills. */
    record Outcome(DemoRunResult run, FaultDrillResult.Kill kill, FaultDrillResult.Frozen frozen) {}

    Outcome run(Path file) throws IOException, InterruptedException {
        FencedStockFile stock = SalesDemo.newStock(file, items);
        workers.watch(event -> sales.count(event.from().name(), event.message()), this::tick);
        activity = "connecting";
        join(workers.all(), file);
        // Each drill needs at least one item in stock, since its worker must read, write and be refused.
        activity = "selling";
        sell(workers.all(), Math.max(1, items - items / 3));
        workers.awaitIdle("the first third of the sales");
        progress.line("  " + sales.sold() + " sold");
        FaultDrillResult.Kill kill = kill(file, Math.max(1, items / 3));
        FaultDrillResult.Frozen frozen = freeze();
        return new Outcome(sales.result(items, SalesDemo.left(stock)), kill, frozen);
    }

    private FaultDrillResult.Kill kill(Path file, int floor) throws InterruptedException {
        WorkerProcess victim = workers.all().get(0);
        long token = holdAfterRead(victim);
        sell(workers.except(victim), floor);
        activity = "killed " + victim.name() + ", waiting for the next grant";
        long killed = System.nanoTime();
        workers.kill(victim);
        WorkerProcess replacement = workers.startWorker();
        Event next =
                workers.await("the next grant after the kill", event -> event.message() instanceof WorkerMessage.Read);
        FaultDrillResult.Kill drill =
                new FaultDrillResult.Kill(Duration.ofNanos(next.nanos() - killed), token, token(next));
        progress.line("  killed " + victim.name() + " (kill -9) while it held token " + token + ": "
                + next.from().name() + " got the lock after " + ProgressPrinter.seconds(drill.recovery()) + ", token "
                + drill.nextToken());
        activity = "selling";
        workers.awaitIdle("the second third of the sales");
        join(List.of(replacement), file);
        progress.line("  " + sales.sold() + " sold, " + replacement.name() + " replaces " + victim.name());
        return drill;
    }

    private FaultDrillResult.Frozen freeze() throws InterruptedException {
        WorkerProcess victim = workers.all().get(0);
        long token = holdAfterRead(victim);
        long frozen = System.nanoTime();
        Event next;
        victim.pause(); // it does not stay paused if the demo is killed
        try {
            activity = "froze " + victim.name() + ", waiting for a sale by another worker";
            sell(workers.except(victim), 0);
            next = workers.await("a sale after the freeze", event -> event.message() instanceof WorkerMessage.Sold);
        } finally {
            victim.resume();
        }
        Duration recovery = Duration.ofNanos(next.nanos() - frozen);
        progress.line("  froze " + victim.name() + " (SIGSTOP) while it held token " + token + ": "
                + next.from().name() + " sold after " + ProgressPrinter.seconds(recovery) + ", token " + token(next));
        activity = "resumed " + victim.name();
        victim.send("go");
        Event late = workers.await(
                "the late write",
                event -> event.from() == victim
                        && (event.message() instanceof WorkerMessage.Refused
                                || event.message() instanceof WorkerMessage.Sold));
        boolean heldAfterwards = late.message() instanceof WorkerMessage.Refused refused && refused.held();
        FaultDrillResult.Frozen drill = new FaultDrillResult.Frozen(
                recovery, token, token(next), late.message() instanceof WorkerMessage.Refused, heldAfterwards);
        progress.line("  resumed " + victim.name() + ": its late write with token " + token + " was "
                + (drill.refused() ? "refused" : "ACCEPTED") + ", its lease reports isHeld=" + heldAfterwards);
        activity = "selling";
        workers.awaitIdle("the last third of the sales");
        sell(List.of(victim), 0); // the resumed worker can continue normally
        workers.awaitIdle("the last sales");
        return drill;
    }

    /** Makes the worker acquire the lock and read, but not write yet; returns its fencing token. */
    private long holdAfterRead(WorkerProcess worker) throws InterruptedException {
        worker.send("hold");
        return token(workers.await(
                worker.name() + " to hold the lock",
                event -> event.from() == worker && event.message() instanceof WorkerMessage.Read));
    }

    private void join(List<WorkerProcess> joining, Path file) throws InterruptedException {
        workers.awaitIdle("the workers to start");
        joining.forEach(worker -> worker.send("open " + file));
        workers.awaitIdle("the workers to open the file");
        joining.forEach(worker -> worker.send("connect " + url));
        workers.awaitIdle("the workers to connect");
    }

    private static void sell(List<WorkerProcess> sellers, int floor) {
        sellers.forEach(worker -> worker.send("sell " + floor + " " + Integer.MAX_VALUE));
    }

    private static long token(Event event) {
        if (event.message() instanceof WorkerMessage.Read read) {
            return read.token().orElseThrow();
        }
        if (event.message() instanceof WorkerMessage.Sold sold) {
            return sold.token().orElseThrow();
        }
        throw new IllegalStateException("no token in " + event.message());
    }

    private void tick(Duration waited) {
        progress.status(
                "  " + sales.sold() + " of " + items + " sold, " + activity + " " + ProgressPrinter.seconds(waited));
    }
}
