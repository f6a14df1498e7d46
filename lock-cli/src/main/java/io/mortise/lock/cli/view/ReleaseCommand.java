// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.JsonFormatter;
import io.mortise.lock.cli.invocation.LockNameConverter;
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

/** Implements {@code lockctl release}, which takes a lock away from its holder. */
@Command(
        name = "release",
        header = "Takes a lock away from its holder.",
        description = {
            "Releases the lock only if it is still held by the holder that is shown, or that --token or --owner selects;"
                    + " otherwise it changes nothing and exits with 1.",
            "The holder keeps working until its client notices: within a second on ZooKeeper and etcd, at the next renewal (a"
                    + " third of the lease) on Redis and Redlock. Until then, two clients may work under the lock. The old"
                    + " holder's fencing token is lower than that of the next one, so a resource that checks tokens rejects its"
                    + " late writes. A holder other than Mortise may never notice.",
            "The lock of a crashed holder need not be released: it becomes free when its lease expires."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {
            "  lockctl who inventory/42",
            "  lockctl release --force inventory/42               # shows the holder and asks",
            "  lockctl release --force inventory/42 --token 17 -y # only from that grant"
        })
public final class ReleaseCommand extends AdminCommand {
    @Parameters(paramLabel = "NAME", converter = LockNameConverter.class, description = "The lock's name.")
    private String name = "";

    @Option(names = "--force", description = "Required: confirms that you know that the holder may still be working.")
    private boolean force;

    @Option(names = "--token", paramLabel = "T", description = "Release only if the holder has this fencing token.")
    private @Nullable Long token;

    @Option(
            names = "--owner",
            paramLabel = "ID",
            description = "Release only if the holder has this owner id; its first 8 or more characters are enough.")
    private @Nullable String owner;

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask for confirmation. Required if there is no terminal.")
    private boolean yes;

    @Override
    int query(LockClient client, LockAdmin admin) throws InterruptedException, IOException {
        if (!force) {
            throw new ParameterException(
                    spec().commandLine(),
                    "release takes the lock from a holder that may still be working: give --force to confirm that");
        }
        if (owner != null && owner.length() < HolderFormat.SHORT_ID_LENGTH) {
            throw new ParameterException(
                    spec().commandLine(), "--owner must have " + HolderFormat.SHORT_ID_LENGTH + " characters or more");
        }
        LockHolder shown = selectHolder(await(admin.status(name)).holders());
        if (!yes && !confirmed(shown)) {
            throw new CommandFailedException(ExitCodes.FAILED, "not confirmed: nothing was released");
        }
        if (!await(admin.forceRelease(name, shown))) {
            throw new CommandFailedException(
                    ExitCodes.FAILED, shownName() + " is no longer held by that holder: nothing was released");
        }
        if (invocation().json()) {
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("name", name);
            result.put("released", true);
            result.put("holder", HolderFormat.json(shown));
            out().println(JsonFormatter.of(result));
        } else {
            out().println(shownName() + " was taken from " + HolderFormat.description(shown));
        }
        return ExitCodes.OK;
    }

    private LockHolder selectHolder(List<LockHolder> holders) {
        if (holders.isEmpty()) {
            throw new CommandFailedException(ExitCodes.FAILED, shownName() + " is free: there is nothing to release");
        }
        List<LockHolder> selected = holders.stream().filter(this::isSelected).toList();
        if (selected.isEmpty()) {
            LockHolder other = holders.get(0);
            throw new CommandFailedException(
                    ExitCodes.FAILED,
                    shownName() + " is held by " + HolderFormat.description(other) + ": nothing was released");
        }
        if (selected.size() > 1) {
            throw new CommandFailedException(
                    ExitCodes.FAILED,
                    shownName() + " has " + selected.size() + " holders: select one with --token or --owner");
        }
        return selected.get(0);
    }

    private boolean isSelected(LockHolder holder) {
        Long requiredToken = token;
        String ownerPrefix = owner;
        boolean tokenMatches = requiredToken == null || holder.token().equals(OptionalLong.of(requiredToken));
        return tokenMatches
                && (ownerPrefix == null
                        || holder.owner()
                                .filter(id -> id.startsWith(ownerPrefix))
                                .isPresent());
    }

    private boolean confirmed(LockHolder shown) throws IOException {
        if (!TerminalDetection.canPrompt()) {
            throw new ParameterException(
                    spec().commandLine(),
                    "there is no terminal to ask for confirmation: give -y, and --token with the token that lockctl who shows");
        }
        err().println(shownName() + " is held by");
        err().println(HolderFormat.lines(shown, "  "));
        err().println(
                        shown.isForeign()
                                ? "Its client is not Mortise and may never notice. It may keep working while the next"
                                        + " holder works."
                                : "Its client will notice that the lock is lost. Until then it may keep working while the next"
                                        + " holder works.");
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
