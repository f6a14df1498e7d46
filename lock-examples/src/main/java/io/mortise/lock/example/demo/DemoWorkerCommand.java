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

/**
 * Implements the hidden command {@code demo-worker}, which runs one worker process of the demo. The process ends when its
 * standard input ends, and hence with the demo, even if the demo is killed.
 */
@Command(name = "demo-worker", hidden = true, description = "One worker process of the demo; started by 'demo' only.")
public final class DemoWorkerCommand implements Callable<Integer> {
    @Parameters(index = "0", description = "The lock's name.")
    private String lockName = "";

    @Override
    public Integer call() throws InterruptedException {
        BlockingQueue<String> commands = new LinkedBlockingQueue<>();
        StdinWatchdog.install(commands::add, () -> {});
        // The demo expects UTF-8, whatever the locale is.
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
