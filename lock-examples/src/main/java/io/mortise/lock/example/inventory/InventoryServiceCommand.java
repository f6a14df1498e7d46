// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import io.mortise.lock.example.BoundedInteger;
import io.mortise.lock.example.ChildProgram;
import io.mortise.lock.example.StoreOption;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Implements {@code ./example inventory}, which starts several instances of an HTTP service that sell from one inventory. */
@Command(
        name = "inventory",
        description = {
            "Runs an HTTP service that sells items from one stock. Each instance is a separate process with its own port.",
            "GET /items/NAME returns the number of units left. POST /items/NAME/buy sells one unit and replies 200 with the"
                    + " number of the unit, 409 if the item is sold out, 429 if there are too many buyers, or 503 if the"
                    + " lock store does not reply or the lock was lost."
        },
        footer = {
            "",
            "  ./example inventory --url redis://localhost:6379",
            "  curl -X POST http://127.0.0.1:8080/items/lamp/buy"
        })
public final class InventoryServiceCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(
            names = "--instances",
            paramLabel = "N",
            defaultValue = "2",
            converter = BoundedInteger.Processes.class,
            description = "Number of instances, 1 to 64. Default: ${DEFAULT-VALUE}.")
    private int instances;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "Port of the first instance; the others use the following ports. 0: any free ports."
                    + " Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--item",
            paramLabel = "NAME=COUNT",
            defaultValue = "lamp=100",
            description = "Item and number of units in a new stock; can be repeated. Default: ${DEFAULT-VALUE}.")
    private Map<String, Integer> items = Map.of();

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "Stock file; created if it does not exist. Default: a new file in the temporary directory.")
    private @Nullable Path file;

    @Option(
            names = "--work-millis",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "Time that each sale takes under the lock beside writing the file. Default: ${DEFAULT-VALUE}.")
    private int workMillis;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        String url = store.url();
        store.check();
        Path stock =
                file != null ? file : Files.createTempDirectory("inventory").resolve("stock");
        FencedStockFile.createIfMissing(stock, items);
        out.println("stock file: " + stock);
        if (port != 0) {
            String item = items.keySet().iterator().next();
            out.println("try: curl -X POST http://127.0.0.1:" + port + "/items/" + item + "/buy");
        }
        BlockingQueue<Process> ended = new LinkedBlockingQueue<>();
        for (int i = 0; i < instances; i++) {
            Process instance = ChildProgram.start(
                    url,
                    List.of(
                            "inventory-instance",
                            "--port",
                            String.valueOf(port == 0 ? 0 : port + i),
                            "--work-millis",
                            String.valueOf(workMillis),
                            stock.toString()));
            instance.onExit().thenAccept(ended::add);
        }
        for (int left = instances; left > 0; left--) {
            Process instance = ended.take();
            out.println("process " + instance.pid() + (ChildProgram.wasKilled(instance) ? " was killed" : " ended"));
            if (instance.exitValue() != 0 && !ChildProgram.wasKilled(instance)) {
                return instance.exitValue(); // the instance has printed why; the others end with this process
            }
        }
        return 0;
    }
}
