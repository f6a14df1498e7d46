// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.example.BoundedInteger;
import io.mortise.lock.example.StoreOption;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Implements {@code ./demo}, in which workers sell items from one inventory, first without and then with the lock, while the
 * demo kills and freezes some of them.
 */
@Command(
        name = "demo",
        header = "Shows what goes wrong without a lock, and how the lock prevents it.",
        description = {
            "Worker processes sell items from a shared stock file, first without the lock and then with it. In the run with"
                    + " the lock, one holder is killed, and another one is frozen until its lease has expired. The exit"
                    + " code is 0 only if no update was lost under the lock and the frozen holder's late write was"
                    + " refused.",
            "Without a URL, the demo starts its own ZooKeeper server. Recovery from each fault takes as long as the store's"
                    + " session timeout, or 4 s if the store has a lease for each lock.",
            "With --json, it prints one JSON object at the end, and the progress goes to standard error."
        },
        footerHeading = "%nExamples:%n",
        footer = {"  ./demo", "  ./demo --url redis://localhost:6379 --workers 8", "  ./demo --json | jq .ok"})
public final class SalesDemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print the result as JSON, for scripts.")
    private boolean json;

    @Option(
            names = {"-v", "--verbose"},
            description = "Show the log of all processes.")
    private boolean verbose;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "4",
            converter = BoundedInteger.Workers.class,
            description = "Number of worker processes, 2 to 64. Default: ${DEFAULT-VALUE}.")
    private int workers;

    @Option(
            names = "--items",
            paramLabel = "N",
            defaultValue = "300",
            converter = BoundedInteger.Items.class,
            description = "Number of items in stock, 1 to 1,000,000. Default: ${DEFAULT-VALUE}.")
    private int items;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        logging();
        ProgressPrinter progress =
                json ? new ProgressPrinter(err, terminal("err")) : new ProgressPrinter(out, terminal("out"));
        Optional<String> url = store.urlIfGiven();
        OverallDemoResult result = url.isPresent() ? run(url.get(), progress, err) : embedded(progress, err);
        if (json) {
            out.println(DemoResultJson.of(result));
        } else {
            out.println();
            out.print(DemoResultTable.of(result));
        }
        out.flush();
        return result.ok() ? 0 : 1;
    }

    private OverallDemoResult embedded(ProgressPrinter progress, PrintWriter err)
            throws IOException, InterruptedException {
        progress.line("Starting a ZooKeeper server in this process");
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start()) {
            return run(
                    "zookeeper://" + server.connectString() + "/mortise-demo?sessionTimeout="
                            + SalesDemo.LEASE.toSeconds() + "s",
                    progress,
                    err);
        }
    }

    private OverallDemoResult run(String serverUrl, ProgressPrinter progress, PrintWriter err)
            throws IOException, InterruptedException {
        return new SalesDemo(serverUrl, workers, items, verbose, progress, err::println).run();
    }

    /** Configures logging. By default it hides warnings about faults that the demo injects on purpose and reports itself. */
    private void logging() {
        log("defaultLogLevel", verbose ? "info" : "error");
        log("log.org.apache.zookeeper", verbose ? "warn" : "error");
        if (!verbose) {
            log("log.io.netty.util.concurrent", "off");
            // Shows how long the demo waits for masters in quarantine, since a user might think that it hangs.
            log("log.io.mortise.lock.redlock.master.ConnectMajorityWait", "info");
        }
    }

    private static void log(String setting, String value) {
        System.getProperties().putIfAbsent("org.slf4j.simpleLogger." + setting, value); // a user's -D takes precedence
    }

    /** Returns what the launcher script found out, since Java cannot tell whether a single output stream is a terminal. */
    private static boolean terminal(String stream) {
        return Boolean.getBoolean("demo.terminal." + stream);
    }
}
