// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The run without the lock: the workers share the items evenly, and overwrite each other's updates. */
final class UnlockedRun {
    private final Crew crew;
    private final int items;
    private final Progress progress;

    UnlockedRun(Crew crew, int items, Progress progress) {
        this.crew = crew;
        this.items = items;
        this.progress = progress;
    }

    Run run(Path file) throws IOException, InterruptedException {
        Inventory inventory = Inventory.create(file, items);
        Tally tally = new Tally();
        crew.watch(
                event -> tally.count(event.message()),
                waited -> progress.tick("  " + tally.sold() + " of " + items + " sold"));
        crew.workers().forEach(worker -> worker.tell("open " + file));
        crew.awaitIdle("the workers to open the file");
        // All read before the first writes: of these sales one at most survives, whatever the scheduler does later.
        crew.workers().forEach(worker -> worker.tell("hold"));
        for (int i = 0; i < crew.workers().size(); i++) {
            crew.await("every worker's first read", event -> event.message() instanceof Message.Read);
        }
        crew.workers().forEach(worker -> worker.tell("go"));
        crew.awaitIdle("the first sales");
        List<Worker> workers = crew.workers();
        int rest = Math.max(0, items - workers.size());
        for (int i = 0; i < workers.size(); i++) {
            int share = rest / workers.size() + (i < rest % workers.size() ? 1 : 0);
            workers.get(i).tell("sell 0 " + share);
        }
        crew.awaitIdle("the sales");
        return Run.of(items, tally, inventory.read());
    }
}
