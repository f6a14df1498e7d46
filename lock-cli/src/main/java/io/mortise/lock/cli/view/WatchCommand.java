// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.DurationConverter;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.TerminalDetection;
import io.mortise.lock.spi.LockUrl;
import java.time.Duration;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Implements {@code lockctl watch}, which polls the store and shows held locks as they change. */
@Command(
        name = "watch",
        header = "Watches locks as they are acquired and released.",
        description = {
            "On a terminal, shows a table that is redrawn until Ctrl-C. In a pipe or a file, and with --json, prints one line"
                    + " for each change, beginning with the locks that are held at the start.",
            "The store is polled at intervals: a lock that is acquired and released between two polls is not seen. While the"
                    + " store cannot be reached, watch says so and keeps trying."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl watch",
            "  lockctl watch 'inventory/*' --interval 5s",
            "  lockctl watch backup --json | jq -c 'select(.change == \"free\")'"
        })
public final class WatchCommand extends AdminCommand {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(50);

    @Parameters(
            paramLabel = "NAME",
            arity = "0..1",
            defaultValue = "*",
            description = "A lock name, or a quoted pattern with * and ?. Default: all locks.")
    private String pattern = "*";

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "DURATION",
            defaultValue = "1s",
            converter = DurationConverter.class,
            description = "Time between two polls. Default: ${DEFAULT-VALUE}.")
    private Duration interval = Duration.ZERO;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "Exit after this number of polls. Default: never.")
    private long count = Long.MAX_VALUE;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        if (interval.compareTo(MIN_INTERVAL) < 0) {
            throw new ParameterException(
                    spec().commandLine(), "--interval must be " + MIN_INTERVAL.toMillis() + "ms or more");
        }
        LockNamePattern names = LockNamePattern.of(pattern);
        String title =
                "lockctl watch " + pattern + "  " + LockUrl.parse(invocation().url());
        boolean fullScreen =
                TerminalDetection.isOutputTerminal() && !invocation().json();
        try (WatchView view = fullScreen
                ? FullScreenLockTable.open(out(), title)
                : new LockChangePrinter(out(), err(), invocation().json())) {
            for (long polls = 0; polls < count; polls++) {
                if (polls > 0) {
                    TimeUnit.NANOSECONDS.sleep(interval.toNanos());
                }
                if (!show(view, admin, names)) {
                    break;
                }
            }
        }
        return ExitCodes.OK;
    }

    private static boolean show(WatchView view, LockAdmin admin, LockNamePattern names) throws InterruptedException {
        SortedMap<String, LockStatus> held;
        try {
            held = HeldLocksQuery.read(admin, names);
        } catch (BackendUnavailableException e) {
            return view.showUnavailable(String.valueOf(e.getMessage()));
        }
        return view.show(held);
    }
}
