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

/**
 * Implements the hidden command {@code inventory-instance}, which runs one instance of the inventory service. The process has
 * one lock client and one port, and ends when its standard input ends.
 */
@Command(
        name = "inventory-instance",
        hidden = true,
        description = "One instance of the service; started by 'inventory' only.")
public final class ShopInstanceCommand implements Callable<Integer> {
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(names = "--port", defaultValue = "0", description = "Port; 0: any free port.")
    private int port;

    @Option(names = "--work-millis", defaultValue = "0", description = "How long each sale works under the lock.")
    private int workMillis;

    @Parameters(index = "0", paramLabel = "FILE", description = "Stock file.")
    private Path file = Path.of("");

    @Override
    public Integer call() throws IOException {
        LockClient locks = store.connect();
        Shop shop = new Shop(locks, new FencedStockFile(file), MAX_WAIT, () -> Thread.sleep(workMillis));
        ShopServer server = listen(shop);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            server.close(); // first the sales, then the locks that they hold
            locks.close();
        }));
        spec.commandLine()
                .getOut()
                .println("listening on " + server.url() + ", process "
                        + ProcessHandle.current().pid());
        ChildProgram.awaitParentExit();
        return 0;
    }

    private ShopServer listen(Shop shop) throws IOException {
        try {
            return ShopServer.start(shop, port);
        } catch (BindException e) {
            throw new IOException(
                    "cannot listen on port " + port + ": " + e.getMessage() + "; choose another one with --port", e);
        }
    }
}
