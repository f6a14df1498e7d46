// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.example.inventory.FencedStockFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Runs the demo without the lock, so that the workers overwrite each other's updates of the stock. */
final class UnlockedDemoRun {
    private final WorkerProcesses workers;
    private final int items;
    private final ProgressPrinter progress;

    UnlockedDemoRun(WorkerProcesses workers, int items, ProgressPrinter progress) {
        this.workers = workers;
        this.items = items;
        this.progress = progress;
    }

    DemoRunResult run(Path file) throws IOException, InterruptedException {
        FencedStockFile stock = SalesDemo.newStock(file, items);
        DemoRunTally sales = new DemoRunTally();
        workers.watch(
                event -> sales.count(event.from().name(), event.message()),
                waited -> progress.status("  " + sales.sold() + " of " + items + " sold"));
        workers.all().forEach(worker -> worker.send("open " + file));
        workers.awaitIdle("the workers to open the file");
        // All workers read before the first one writes, so at most one of these sales survives, whatever the scheduler
        // does.
        workers.all().forEach(worker -> worker.send("hold"));
        for (int i = 0; i < workers.all().size(); i++) {
            workers.await("every worker's first read", event -> event.message() instanceof WorkerMessage.Read);
        }
        workers.all().forEach(worker -> worker.send("go"));
        workers.awaitIdle("the first sales");
        List<WorkerProcess> all = workers.all();
        int rest = Math.max(0, items - all.size());
        for (int i = 0; i < all.size(); i++) {
            int share = rest / all.size() + (i < rest % all.size() ? 1 : 0);
            all.get(i).send("sell 0 " + share);
        }
        workers.awaitIdle("the sales");
        return sales.result(items, SalesDemo.left(stock));
    }
}
