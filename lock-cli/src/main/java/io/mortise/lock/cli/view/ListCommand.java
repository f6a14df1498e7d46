// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
import java.util.Collection;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The command {@code lockctl list}: all held locks. */
@Command(
        name = "list",
        header = "Lists the locks that are held.",
        description = {
            "One line for each, in the order of names. \"foreign\" is a holder that is not Mortise: Curator's mutex, etcdctl lock,"
                    + " a bare SET of Redis.",
            "A busy store changes while it is read: each line was true at some moment of the reading."
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
                    "Which names: * for any characters, ? for one; in quotes, or the shell takes them. Default: all.")
    private String pattern = "*";

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException {
        Collection<LockStatus> locks =
                HeldLocksQuery.read(admin, LockNamePattern.of(pattern)).values();
        if (invocation().json()) {
            out().println(JsonText.of(
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
