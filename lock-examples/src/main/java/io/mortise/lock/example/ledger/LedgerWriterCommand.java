// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import io.mortise.lock.LockClient;
import io.mortise.lock.example.ChildProgram;
import io.mortise.lock.example.StoreOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Implements the hidden command {@code ledger-writer}, which runs one writer process of the ledger example. The process ends at
 * the latest when its standard input ends.
 */
@Command(name = "ledger-writer", hidden = true, description = "One writer process; started by 'ledger' only.")
public final class LedgerWriterCommand implements Callable<Integer> {
    @Mixin
    private StoreOption store = new StoreOption();

    @Option(names = "--moves", required = true, description = "Number of moves by this writer at the end.")
    private int moves;

    @Parameters(index = "0", paramLabel = "NAME", description = "Name of the writer.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "FILE", description = "Ledger file.")
    private Path file = Path.of("");

    @Override
    public Integer call() throws IOException, InterruptedException {
        Thread watch = new Thread(LedgerWriterCommand::endWithParent, "parent");
        watch.setDaemon(true);
        watch.start();
        try (LockClient locks = store.connect();
                AppendOnlyLedgerFile ledger = AppendOnlyLedgerFile.open(file)) {
            new TransferWriter(name, ledger, locks, lockName(file)).run(moves);
        }
        return 0;
    }

    /** Returns the name of the lock for a ledger file, which depends on the file name only. */
    static String lockName(Path file) {
        return "ledger/" + file.getFileName();
    }

    private static void endWithParent() {
        try {
            ChildProgram.awaitParentExit();
        } catch (IOException e) {
            // A broken pipe means that the parent has ended, too.
        }
        System.exit(1);
    }
}
