// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import io.mortise.lock.testkit.process.StdinWatchdog;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** One worker process of the demo. Ends with the demo, however that ends: its standard input ends then. */
@Command(name = "demo-worker", hidden = true, description = "A worker of the demo, which starts it by itself.")
public final class DemoWorkerCommand implements Callable<Integer> {
    @Parameters(index = "0", description = "The lock's name.")
    private String lockName = "";

    @Override
    public Integer call() throws InterruptedException {
        BlockingQueue<String> commands = new LinkedBlockingQueue<>();
        StdinWatchdog.install(commands::add, () -> {});
        // The demo reads UTF-8, whatever the locale is.
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try (Seller seller = new Seller(lockName, commands, message -> out.println(message.line()))) {
            seller.run();
        } catch (Exception e) {
            out.println(new WorkerMessage.Failed(Objects.requireNonNullElse(e.getMessage(), e.toString())).line());
            return 1;
        }
        return 0;
    }
}
