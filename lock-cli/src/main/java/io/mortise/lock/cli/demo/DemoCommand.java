// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import io.mortise.lock.cli.invocation.CommonOptions;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.LoggingSetup;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.spi.LockUrl;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code lockctl demo}: its options, its output and its exit code. */
@Command(
        name = "demo",
        header = "Shows what goes wrong without a lock, and what the lock does about it.",
        description = {
            "Worker processes buy items from a shared inventory file, first without the lock, then with it, while one"
                    + " holder is killed and another frozen past its deadline. Exits with 0 only if no update was lost"
                    + " under the lock and the frozen holder's late write was refused.",
            "Without a URL it starts a ZooKeeper server of its own. The drills take as long as the store's session timeout;"
                    + " where leases are per lock they are of 4 s.",
            "With --json it prints one JSON object at the end; the progress goes to standard error."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl demo",
            "  lockctl demo --url redis://localhost:6379 --workers 8",
            "  lockctl demo --json | jq .ok"
        })
public final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptions given;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "4",
            converter = WholeNumber.Workers.class,
            description = "Worker processes, 2 to 64. Default: ${DEFAULT-VALUE}.")
    private int workers;

    @Option(
            names = "--items",
            paramLabel = "N",
            defaultValue = "300",
            converter = WholeNumber.Items.class,
            description = "Items in stock, 1 to 1,000,000. Default: ${DEFAULT-VALUE}.")
    private int items;

    @Override
    public Integer call() throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        CommonOptions invocation = Objects.requireNonNull(given);
        boolean json = invocation.json();
        Progress progress = json ? new Progress(err, terminal("err")) : new Progress(out, terminal("out"));
        String url = invocation.urlIfGiven().orElse(null);
        Result result = url == null ? embedded(progress, err) : run(checked(url), progress, err);
        if (json) {
            out.println(ResultJson.of(result));
        } else {
            out.println();
            out.print(ResultTable.of(result));
        }
        out.flush();
        return result.ok() ? ExitCodes.OK : ExitCodes.FAILED;
    }

    private Result embedded(Progress progress, PrintWriter err) throws IOException, InterruptedException {
        if (!verbose()) {
            LoggingSetup.errorsOnly("io.mortise.lock.zookeeper"); // it has no passwords, and only we know its port
        }
        progress.line("Starting a ZooKeeper server in this process");
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start()) {
            return run(
                    "zookeeper://" + server.connectString() + "/mortise-demo?sessionTimeout=" + Demo.LEASE.toSeconds()
                            + "s",
                    progress,
                    err);
        }
    }

    private Result run(String serverUrl, Progress progress, PrintWriter err) throws IOException, InterruptedException {
        return new Demo(serverUrl, workers, items, verbose(), progress, err::println).run();
    }

    private boolean verbose() {
        return Objects.requireNonNull(given).verbose();
    }

    private String checked(String given) {
        if (LockUrl.parse(given).scheme().equals("memory")) {
            throw new ParameterException(
                    spec.commandLine(),
                    "the URL is " + LockUrl.parse(given)
                            + ": memory locks exclude threads of one process, and the demo's"
                            + " workers are processes; leave it out to use an embedded ZooKeeper");
        }
        return given;
    }

    /** The launcher knows: Java cannot tell a terminal on one of its outputs from a pipe. */
    private static boolean terminal(String stream) {
        return Boolean.getBoolean("lockctl.terminal." + stream);
    }
}
