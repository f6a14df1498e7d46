// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

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

/** Starts the inventory service: its stock and its instances. */
@Command(
        name = "inventory",
        description = {
            "An HTTP service of several instances, each a process with a port of its own, which sell from one stock.",
            "GET /items/NAME tells how many are left; POST /items/NAME/buy sells one: 200 with the number of the unit, 409 sold"
                    + " out, 429 too many buyers, 503 the lock's store does not answer or the lock was lost."
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
            description = "How many. Default: ${DEFAULT-VALUE}.")
    private int instances;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "The first one's; the others follow. 0: any free ones. Default: ${DEFAULT-VALUE}.")
    private int port;

    @Option(
            names = "--item",
            paramLabel = "NAME=COUNT",
            defaultValue = "lamp=100",
            description = "An item of a new stock; may be repeated. Default: ${DEFAULT-VALUE}.")
    private Map<String, Integer> items = Map.of();

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "The stock; made if it is missing. Default: a new file in the temporary folder.")
    private @Nullable Path file;

    @Option(
            names = "--work-millis",
            paramLabel = "N",
            defaultValue = "0",
            description = "How long a sale takes under the lock beside writing the file. Default: ${DEFAULT-VALUE}.")
    private int workMillis;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        String url = store.url();
        store.check();
        Path stock =
                file != null ? file : Files.createTempDirectory("inventory").resolve("stock");
        StockFile.createIfMissing(stock, items);
        out.println("the stock is " + stock);
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
                return instance.exitValue(); // it has said why; the others end with this process
            }
        }
        return 0;
    }
}
