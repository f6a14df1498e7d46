// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonFormatter;
import io.mortise.lock.cli.invocation.LockNameConverter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code lockctl who}, which shows the holder and the waiters of one lock. */
@Command(
        name = "who",
        header = "Shows who holds a lock and who waits for it.",
        description = {
            "Exits with 0 if the lock is held, and with 1 if it is free.",
            "The waiters are those in the store's queue: where a process has a single entry there, the number of its waiting"
                    + " threads is not shown. \"since\" is the time when the holder requested the lock, by the holder's clock."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl who inventory/42",
            "  lockctl who backup >/dev/null || echo 'no backup is running'",
            "  lockctl who inventory/42 --json | jq -r .holders[0].host"
        })
public final class WhoCommand extends AdminCommand {
    @Parameters(paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        LockStatus status = await(admin.status(name));
        if (invocation().json()) {
            out().println(JsonFormatter.of(HolderFormat.json(status)));
        } else {
            print(status);
        }
        return status.holders().isEmpty() ? ExitCodes.FAILED : ExitCodes.OK;
    }

    private void print(LockStatus status) {
        out().println(HolderFormat.safe(status.name()) + (status.holders().isEmpty() ? " is free" : " is held by"));
        for (LockHolder holder : status.holders()) {
            out().println(HolderFormat.lines(holder, "  "));
        }
        if (!status.waiters().isEmpty()) {
            out().println("waiting, in queue order");
            LockTable.ofWaiters(status.waiters()).forEach(line -> out().println("  " + line));
        }
    }
}
