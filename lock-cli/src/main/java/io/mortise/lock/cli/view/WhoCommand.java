// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code lockctl who}: holder and waiters of one lock. */
@Command(
        name = "who",
        header = "Shows who holds a lock, and who waits for it.",
        description = {
            "Exits with 0 if the lock is held, with 1 if it is free.",
            "Waiters are those who stand in the queue in the store; a process shows it how many of its own threads wait only where"
                    + " each is listed by itself. \"Since\" is when the holder asked for the lock, by its own clock."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl who inventory/42",
            "  lockctl who backup >/dev/null || echo 'nobody makes a backup now'",
            "  lockctl who inventory/42 --json | jq -r .holders[0].host"
        })
public final class WhoCommand extends AdminCommand {
    @Parameters(paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        LockStatus status = await(admin.status(name));
        if (invocation().json()) {
            out().println(JsonText.of(HolderFormat.json(status)));
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
            out().println("waiting, the next first");
            LockTable.ofWaiters(status.waiters()).forEach(line -> out().println("  " + line));
        }
    }
}
