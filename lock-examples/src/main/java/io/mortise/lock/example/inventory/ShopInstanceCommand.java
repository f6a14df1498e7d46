// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import io.mortise.lock.LockClient;
import io.mortise.lock.example.ChildProgram;
import io.mortise.lock.example.StoreOption;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** One instance of the service: a process with one client and one port. Ends when its standard input does. */
@Command(name = "inventory-instance", hidden = true, description = "One instance, which 'inventory' starts by itself.")
public final class ShopInstanceCommand implements Callable<Integer> {
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(names = "--port", defaultValue = "0", description = "0: any free one.")
    private int port;

    @Option(names = "--work-millis", defaultValue = "0", description = "How long a sale takes.")
    private int workMillis;

    @Parameters(index = "0", paramLabel = "FILE", description = "The stock.")
    private Path file = Path.of("");

    @Override
    public Integer call() throws IOException {
        LockClient locks = store.connect();
        Shop shop = new Shop(locks, new StockFile(file), MAX_WAIT, Duration.ofMillis(workMillis));
        ShopServer server = listen(shop);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.close(); // first the work, then the locks under it
            locks.close();
        }));
        spec.commandLine()
                .getOut()
                .println("listening on " + server.url() + ", process "
                        + ProcessHandle.current().pid());
        ChildProgram.awaitParentsEnd();
        return 0;
    }

    private ShopServer listen(Shop shop) throws IOException {
        try {
            return ShopServer.start(shop, port);
        } catch (BindException e) {
            throw new IOException("port " + port + ": " + e.getMessage() + "; give another by --port", e);
        }
    }
}
