// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import io.mortise.lock.cli.demo.Crew.Event;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The run with the lock, until the stock is sold out, with two drills on the way. */
final class LockedRun {
    private final Crew crew;
    private final String url;
    private final int items;
    private final Progress progress;
    private final Tally tally = new Tally();
    private String doing = "";

    LockedRun(Crew crew, String url, int items, Progress progress) {
        this.crew = crew;
        this.url = url;
        this.items = items;
        this.progress = progress;
    }

    /** The run and its drills. */
    record Result(Run run, Drill.Kill kill, Drill.Frozen frozen) {}

    Result run(Path file) throws IOException, InterruptedException {
        Inventory inventory = Inventory.create(file, items);
        crew.watch(event -> tally.count(event.message()), this::tick);
        doing = "connecting";
        join(crew.workers(), file);
        // Each drill needs one item left, or there is nothing to read, write and refuse.
        doing = "selling";
        sell(crew.workers(), Math.max(1, items - items / 3));
        crew.awaitIdle("the first third of the sales");
        progress.line("  " + tally.sold() + " sold");
        Drill.Kill kill = kill(file, Math.max(1, items / 3));
        Drill.Frozen frozen = freeze();
        return new Result(Run.of(items, tally, inventory.read()), kill, frozen);
    }

    private Drill.Kill kill(Path file, int floor) throws InterruptedException {
        Worker victim = crew.workers().get(0);
        long token = holdAfterRead(victim);
        sell(crew.except(victim), floor);
        doing = "killed " + victim.name() + ", waiting for the next grant";
        long killed = System.nanoTime();
        crew.kill(victim);
        Worker replacement = crew.hire();
        Event next = crew.await("the next grant after the kill", event -> event.message() instanceof Message.Read);
        Drill.Kill drill = new Drill.Kill(Duration.ofNanos(next.nanos() - killed), token, token(next));
        progress.line("  killed " + victim.name() + " (kill -9) while it held token " + token + ": "
                + next.from().name() + " got the lock after " + Progress.seconds(drill.recovery()) + ", token "
                + drill.nextToken());
        doing = "selling";
        crew.awaitIdle("the second third of the sales");
        join(List.of(replacement), file);
        progress.line("  " + tally.sold() + " sold, " + replacement.name() + " replaces " + victim.name());
        return drill;
    }

    private Drill.Frozen freeze() throws InterruptedException {
        Worker victim = crew.workers().get(0);
        long token = holdAfterRead(victim);
        long frozen = System.nanoTime();
        Event next;
        victim.pause(); // wakes by itself if the demo is killed
        try {
            doing = "froze " + victim.name() + ", waiting for another's sale";
            sell(crew.except(victim), 0);
            next = crew.await("a sale after the freeze", event -> event.message() instanceof Message.Sold);
        } finally {
            victim.resume();
        }
        Duration recovery = Duration.ofNanos(next.nanos() - frozen);
        progress.line("  froze " + victim.name() + " (SIGSTOP) while it held token " + token + ": "
                + next.from().name() + " sold after " + Progress.seconds(recovery) + ", token " + token(next));
        doing = "resumed " + victim.name();
        victim.tell("go");
        Event late = crew.await(
                "the late write",
                event -> event.from() == victim
                        && (event.message() instanceof Message.Refused || event.message() instanceof Message.Sold));
        boolean believed = late.message() instanceof Message.Refused refused && refused.held();
        Drill.Frozen drill =
                new Drill.Frozen(recovery, token, token(next), late.message() instanceof Message.Refused, believed);
        progress.line("  resumed " + victim.name() + ": its late write with token " + token + " was "
                + (drill.refused() ? "refused" : "ACCEPTED") + ", its lease says isHeld=" + believed);
        doing = "selling";
        crew.awaitIdle("the last third of the sales");
        sell(List.of(victim), 0); // it can go on as if nothing had happened
        crew.awaitIdle("the last sales");
        return drill;
    }

    /** Has the worker take the lock and read, and stay there; returns its token. */
    private long holdAfterRead(Worker worker) throws InterruptedException {
        worker.tell("hold");
        return token(crew.await(
                worker.name() + " to hold the lock",
                event -> event.from() == worker && event.message() instanceof Message.Read));
    }

    private void join(List<Worker> workers, Path file) throws InterruptedException {
        crew.awaitIdle("the workers to start");
        workers.forEach(worker -> worker.tell("open " + file));
        crew.awaitIdle("the workers to open the file");
        workers.forEach(worker -> worker.tell("connect " + url));
        crew.awaitIdle("the workers to connect");
    }

    private static void sell(List<Worker> workers, int floor) {
        workers.forEach(worker -> worker.tell("sell " + floor + " " + Integer.MAX_VALUE));
    }

    private static long token(Event event) {
        if (event.message() instanceof Message.Read read) {
            return read.token().orElseThrow();
        }
        if (event.message() instanceof Message.Sold sold) {
            return sold.token().orElseThrow();
        }
        throw new CommandFailedException(ExitCodes.SOFTWARE, "no token in " + event.message());
    }

    private void tick(Duration waited) {
        progress.tick("  " + tally.sold() + " of " + items + " sold, " + doing + " " + Progress.seconds(waited));
    }
}
