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

/** The command {@code lockctl watch}: a live table of held locks. */
@Command(
        name = "watch",
        header = "Watches locks as they are taken and released.",
        description = {
            "On a terminal a table that is redrawn until Ctrl-C. In a pipe or a file, and with --json, one line for each change,"
                    + " those that are held at the start first.",
            "It reads at intervals: what was taken and released between two readings is not seen. While the store cannot be"
                    + " reached it says so, and goes on trying."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl watch",
            "  lockctl watch 'inventory/*' --interval 5s",
            "  lockctl watch backup --json | jq -c 'select(.change == \"free\")'"
        })
public final class WatchCommand extends AdminCommand {
    private static final Duration LEAST = Duration.ofMillis(50);

    @Parameters(
            paramLabel = "NAME",
            arity = "0..1",
            defaultValue = "*",
            description = "Which locks: a name, or a pattern with * and ? in quotes. Default: all.")
    private String pattern = "*";

    @Option(
            names = {"-i", "--interval"},
            paramLabel = "DURATION",
            defaultValue = "1s",
            converter = DurationConverter.class,
            description = "Time between two readings. Default: ${DEFAULT-VALUE}.")
    private Duration interval = Duration.ZERO;

    @Option(
            names = {"-c", "--count"},
            paramLabel = "N",
            description = "Ends after so many readings. Default: never.")
    private long count = Long.MAX_VALUE;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        if (interval.compareTo(LEAST) < 0) {
            throw new ParameterException(spec().commandLine(), "--interval must be " + LEAST.toMillis() + "ms or more");
        }
        LockNamePattern wanted = LockNamePattern.of(pattern);
        String title =
                "lockctl watch " + pattern + "  " + LockUrl.parse(invocation().url());
        boolean screen = TerminalDetection.out() && !invocation().json();
        try (WatchView watching = screen
                ? FullScreenLockTable.open(out(), title)
                : new LockChanges(out(), err(), invocation().json())) {
            for (long readings = 0; readings < count; readings++) {
                if (readings > 0) {
                    TimeUnit.NANOSECONDS.sleep(interval.toNanos());
                }
                if (!show(watching, admin, wanted)) {
                    break;
                }
            }
        }
        return ExitCodes.OK;
    }

    private static boolean show(WatchView watching, LockAdmin admin, LockNamePattern wanted)
            throws InterruptedException {
        SortedMap<String, LockStatus> held;
        try {
            held = HeldLocksQuery.read(admin, wanted);
        } catch (BackendUnavailableException e) {
            return watching.unavailable(String.valueOf(e.getMessage()));
        }
        return watching.show(held);
    }
}
