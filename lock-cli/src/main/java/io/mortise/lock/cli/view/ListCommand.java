// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonFormatter;
import java.util.Collection;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Implements {@code lockctl list}, which lists all held locks. */
@Command(
        name = "list",
        header = "Lists the locks that are held.",
        description = {
            "Prints one line for each holder, sorted by lock name. \"foreign\" marks a holder other than Mortise, such as"
                    + " Curator's mutex, etcdctl lock, or a plain SET in Redis.",
            "The list is not a snapshot: a busy store changes while it is read, and each line was true at some moment of the"
                    + " read."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl list",
            "  lockctl list 'inventory/*'",
            "  lockctl list --json | jq -r '.locks[] | select(.waiters | length > 10) | .name'"
        })
public final class ListCommand extends AdminCommand {
    @Parameters(
            paramLabel = "PATTERN",
            arity = "0..1",
            defaultValue = "*",
            description =
                    "The names to list: * matches any characters, ? matches one. Quote it, so that the shell does not expand"
                            + " it. Default: all.")
    private String pattern = "*";

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        Collection<LockStatus> locks =
                HeldLocksQuery.read(admin, LockNamePattern.of(pattern)).values();
        if (invocation().json()) {
            out().println(JsonFormatter.of(
                    Map.of("locks", locks.stream().map(HolderFormat::json).toList())));
        } else if (locks.isEmpty()) {
            err().println("no lock is held"
                    + (pattern.equals("*") ? "" : " whose name matches " + HolderFormat.safe(pattern)));
            err().flush();
        } else {
            LockTable.of(locks).forEach(out()::println);
        }
        return ExitCodes.OK;
    }
}
