// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import io.mortise.lock.example.ChildProgram;
import io.mortise.lock.example.StoreOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Starts the writers of the ledger, and restarts those that are killed. */
@Command(
        name = "ledger",
        description = {
            "Several processes move money between the accounts of one file, and one reads it all the time.",
            "Ends with 0 if every move is there once, none was made without knowledge of the one before, and no money is"
                    + " lost. Kill writers meanwhile, or stop them with kill -STOP and let them go on: each is started"
                    + " again, and what comes late does not count."
        },
        footer = {"", "  ./example ledger --url redis://localhost:6379 --writers 4 --moves 1000"})
public final class LedgerSupervisorCommand implements Callable<Integer> {
    private static final long READ_EACH_MILLIS = 50;

    private static final long TELL_EACH_NANOS = 1_000_000_000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(
            names = "--writers",
            paramLabel = "N",
            defaultValue = "3",
            description = "How many processes. Default: ${DEFAULT-VALUE}.")
    private int writers;

    @Option(
            names = "--moves",
            paramLabel = "N",
            defaultValue = "100",
            description = "How many moves of each are in the ledger at the end. Default: ${DEFAULT-VALUE}.")
    private int moves;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "The ledger; made if it is missing. Default: a new file in the temporary folder.")
    private @Nullable Path file;

    private final BlockingQueue<Process> ended = new LinkedBlockingQueue<>();
    private final Map<Process, String> running = new HashMap<>();

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        String url = store.url();
        store.check();
        Path ledger = file != null ? file : Files.createTempDirectory("ledger").resolve("ledger");
        AppendOnlyLedgerFile.createIfMissing(ledger, new LedgerEntry.Start(10, 100));
        out.println("the ledger is " + ledger);
        for (int i = 1; i <= writers; i++) {
            start("w" + i, url, ledger);
        }
        LedgerBalances books = new LedgerBalances();
        try (AppendOnlyLedgerFile reader = AppendOnlyLedgerFile.open(ledger)) {
            reader.readNew(books);
            long total = books.total();
            long told = System.nanoTime();
            while (!running.isEmpty()) {
                Process process = ended.poll(READ_EACH_MILLIS, TimeUnit.MILLISECONDS);
                if (process != null && !ended(process, url, ledger)) {
                    return process.exitValue();
                }
                reader.readNew(books);
                if (System.nanoTime() - told > TELL_EACH_NANOS) {
                    told = System.nanoTime();
                    out.println(books.moves() + " moves, " + books.total() + " in the accounts");
                }
            }
            reader.readNew(books);
            boolean all = true;
            for (int i = 1; i <= writers; i++) {
                out.println("w" + i + " made " + books.movesBy("w" + i) + " moves");
                all &= books.movesBy("w" + i) >= moves;
            }
            out.println(books.total() + " in the accounts, " + total + " at the start; " + books.wrong()
                    + " updates lost, " + books.late() + " came late and do not count, " + reader.torn()
                    + " lines are not whole");
            return all && books.wrong() == 0 && books.total() == total ? 0 : 1;
        }
    }

    private void start(String writer, String url, Path ledger) throws IOException {
        Process process = ChildProgram.start(
                url, List.of("ledger-writer", "--moves", String.valueOf(moves), writer, ledger.toString()));
        running.put(process, writer);
        process.onExit().thenAccept(ended::add);
        spec.commandLine().getOut().println(writer + " is process " + process.pid());
    }

    /** Whether the others may go on. */
    private boolean ended(Process process, String url, Path ledger) throws IOException {
        String writer = running.remove(process);
        if (ChildProgram.wasKilled(process) && writer != null) {
            spec.commandLine().getOut().println(writer + " was killed");
            start(writer, url, ledger);
        }
        return process.exitValue() == 0 || ChildProgram.wasKilled(process);
    }
}
