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

/** Runs one writer process of the ledger example. Ends at the latest when its standard input does. */
@Command(name = "ledger-writer", hidden = true, description = "One writer, which 'ledger' starts by itself.")
public final class LedgerWriterCommand implements Callable<Integer> {
    @Mixin
    private StoreOption store = new StoreOption();

    @Option(names = "--moves", required = true, description = "How many there are to be.")
    private int moves;

    @Parameters(index = "0", paramLabel = "NAME", description = "The writer's name.")
    private String name = "";

    @Parameters(index = "1", paramLabel = "FILE", description = "The ledger.")
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

    /** One lock for each file, so the same for all who name it in the same way. */
    static String lockName(Path file) {
        return "ledger/" + file.getFileName();
    }

    private static void endWithParent() {
        try {
            ChildProgram.awaitParentsEnd();
        } catch (IOException e) {
            // That is an end as well.
        }
        System.exit(1);
    }
}
