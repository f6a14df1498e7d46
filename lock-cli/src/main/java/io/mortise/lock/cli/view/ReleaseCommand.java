// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonText;
import io.mortise.lock.cli.invocation.TerminalDetection;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** The command {@code lockctl release --force}: takes a lock from the grant that was shown. */
@Command(
        name = "release",
        header = "Takes a lock away from its holder.",
        description = {
            "Only from the holder that it shows, or that --token or --owner names: if another holds the lock by then, nothing is"
                    + " touched, and it exits with 1.",
            "The holder goes on working until its client finds out: within a second on ZooKeeper and etcd, with its next renewal on"
                    + " Redis and Redlock (a third of its lease). Until then two may work. Its fencing token is below the next"
                    + " holder's: a resource that checks tokens refuses what it still writes. A holder that is not Mortise may"
                    + " never find out.",
            "A holder that has crashed needs none of this: its lock is free once its lease has ended."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl who inventory/42",
            "  lockctl release --force inventory/42               # shows the holder, and asks",
            "  lockctl release --force inventory/42 --token 17 -y # in a script: from that grant, or not at all"
        })
public final class ReleaseCommand extends AdminCommand {
    @Parameters(paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Option(names = "--force", description = "Needed: it says that you know that the holder may still be at work.")
    private boolean force;

    @Option(names = "--token", paramLabel = "T", description = "Only from the holder with this fencing token.")
    private @Nullable Long token;

    @Option(
            names = "--owner",
            paramLabel = "ID",
            description = "Only from this owner; the beginning of its id is enough if it has 8 characters or more.")
    private @Nullable String owner;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask. Without a terminal nobody can be asked: it is needed there.")
    private boolean yes;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException, IOException {
        if (!force) {
            throw new ParameterException(
                    spec().commandLine(),
                    "this takes the lock from whoever holds it, who may still be at work: give --force if you mean that");
        }
        if (owner != null && owner.length() < HolderFormat.SHORT) {
            throw new ParameterException(
                    spec().commandLine(), "--owner must have " + HolderFormat.SHORT + " characters or more");
        }
        LockHolder seen = seen(await(admin.status(name)).holders());
        if (!yes && !agreed(seen)) {
            throw new CommandFailedException(ExitCodes.FAILED, "nothing was touched");
        }
        if (!await(admin.forceRelease(name, seen))) {
            throw new CommandFailedException(
                    ExitCodes.FAILED, shownName() + " is no longer held by that holder: nothing was touched");
        }
        if (invocation().json()) {
            Map<String, Object> done = new LinkedHashMap<>();
            done.put("name", name);
            done.put("released", true);
            done.put("holder", HolderFormat.json(seen));
            out().println(JsonText.of(done));
        } else {
            out().println(shownName() + " was taken from " + HolderFormat.named(seen));
        }
        return ExitCodes.OK;
    }

    private LockHolder seen(List<LockHolder> holders) {
        if (holders.isEmpty()) {
            throw new CommandFailedException(ExitCodes.FAILED, shownName() + " is free: there is nothing to release");
        }
        List<LockHolder> meant = holders.stream().filter(this::isMeant).toList();
        if (meant.isEmpty()) {
            LockHolder other = holders.get(0);
            throw new CommandFailedException(
                    ExitCodes.FAILED,
                    shownName() + " is held by " + HolderFormat.named(other) + ": nothing was touched");
        }
        if (meant.size() > 1) {
            throw new CommandFailedException(
                    ExitCodes.FAILED,
                    shownName() + " has " + meant.size() + " holders: say which by --token or --owner");
        }
        return meant.get(0);
    }

    private boolean isMeant(LockHolder holder) {
        Long wanted = token;
        String begins = owner;
        boolean byToken = wanted == null || holder.token().equals(OptionalLong.of(wanted));
        return byToken
                && (begins == null
                        || holder.owner().filter(id -> id.startsWith(begins)).isPresent());
    }

    private boolean agreed(LockHolder seen) throws IOException {
        if (!TerminalDetection.asks()) {
            throw new ParameterException(
                    spec().commandLine(), "there is no terminal to ask on: give -y, and --token with what who showed");
        }
        err().println(shownName() + " is held by");
        err().println(HolderFormat.lines(seen, "  "));
        err().println(
                        seen.foreign()
                                ? "Its client is not Mortise and may never be told. It may still be at work while the next holder is."
                                : "It is told that the lock is lost, and may still be at work until then while the next holder is.");
        err().print("Take the lock away? [y/N] ");
        err().flush();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()));
        String answer = in.readLine();
        return answer != null && List.of("y", "yes").contains(answer.strip().toLowerCase(Locale.ROOT));
    }

    private String shownName() {
        return HolderFormat.safe(name);
    }
}
