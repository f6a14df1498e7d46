// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import io.mortise.lock.example.BoundedInteger;
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

/** Implements {@code ./example ledger}, which starts the writers of a ledger and restarts those that are killed. */
@Command(
        name = "ledger",
        description = {
            "Several processes move money between the accounts of one ledger file, and another one keeps reading the file.",
            "The exit code is 0 if every move is in the ledger once, each was made with knowledge of all earlier ones, and no"
                    + " money is lost. Try killing writers, or pause and resume them with kill -STOP and kill -CONT: killed"
                    + " writers are restarted, and writes after the loss of the lock are ignored."
        },
        footer = {"", "  ./example ledger --url redis://localhost:6379 --writers 4 --moves 1000"})
public final class LedgerSupervisorCommand implements Callable<Integer> {
    private static final long READ_INTERVAL_MILLIS = 50;

    private static final long REPORT_INTERVAL_NANOS = 1_000_000_000;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(
            names = "--writers",
            paramLabel = "N",
            defaultValue = "3",
            converter = BoundedInteger.Processes.class,
            description = "Number of writer processes, 1 to 64. Default: ${DEFAULT-VALUE}.")
    private int writers;

    @Option(
            names = "--moves",
            paramLabel = "N",
            defaultValue = "100",
            converter = BoundedInteger.Moves.class,
            description = "Number of moves by each writer at the end. Default: ${DEFAULT-VALUE}.")
    private int moves;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "Ledger file; created if it does not exist. Default: a new file in the temporary directory.")
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
        out.println("ledger file: " + ledger);
        for (int i = 1; i <= writers; i++) {
            start("w" + i, url, ledger);
        }
        LedgerBalances balances = new LedgerBalances();
        try (AppendOnlyLedgerFile reader = AppendOnlyLedgerFile.open(ledger)) {
            reader.readNew(balances);
            long total = balances.total();
            long lastReport = System.nanoTime();
            while (!running.isEmpty()) {
                Process process = ended.poll(READ_INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
                if (process != null && !ended(process, url, ledger)) {
                    return process.exitValue();
                }
                reader.readNew(balances);
                if (System.nanoTime() - lastReport > REPORT_INTERVAL_NANOS) {
                    lastReport = System.nanoTime();
                    out.println(balances.moves() + " moves, " + balances.total() + " in the accounts");
                }
            }
            reader.readNew(balances);
            boolean all = true;
            for (int i = 1; i <= writers; i++) {
                out.println("w" + i + " made " + balances.movesBy("w" + i) + " moves");
                all &= balances.movesBy("w" + i) >= moves;
            }
            out.println(balances.total() + " in the accounts, " + total + " at the start; " + balances.wrong()
                    + " updates lost, " + balances.late() + " late moves ignored, " + reader.incompleteLines()
                    + " incomplete lines");
            return all && balances.wrong() == 0 && balances.total() == total ? 0 : 1;
        }
    }

    private void start(String writer, String url, Path ledger) throws IOException {
        Process process = ChildProgram.start(
                url, List.of("ledger-writer", "--moves", String.valueOf(moves), writer, ledger.toString()));
        running.put(process, writer);
        process.onExit().thenAccept(ended::add);
        spec.commandLine().getOut().println(writer + " is process " + process.pid());
    }

    /** Handles the end of a writer, and returns whether the other writers may continue. */
    private boolean ended(Process process, String url, Path ledger) throws IOException {
        String writer = running.remove(process);
        if (ChildProgram.wasKilled(process) && writer != null) {
            spec.commandLine().getOut().println(writer + " was killed");
            start(writer, url, ledger);
        }
        return process.exitValue() == 0 || ChildProgram.wasKilled(process);
    }
}
