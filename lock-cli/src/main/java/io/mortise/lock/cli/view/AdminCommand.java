// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptionValues;
import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.cli.invocation.LoggingSetup;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Base class of the commands that show or change locks through {@link LockAdmin}. */
abstract class AdminCommand implements Callable<Integer> {
    /** Each request of {@link LockAdmin} has its own deadline; this limit only keeps a faulty backend from blocking a shell. */
    private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(60);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptionValues given;

    /** Queries the store, prints the result, and returns the exit code. */
    abstract int query(LockClient client, LockAdmin admin) throws Exception;

    @Override
    public final Integer call() throws Exception {
        if (!invocation().verbose()) {
            LoggingSetup.errorsOnly("io.mortise.lock"); // doctor shows what the client warns of at startup
        }
        try (LockClient client = invocation().connect()) {
            LockAdmin admin = client.admin()
                    .orElseThrow(() -> new CommandFailedException(
                            ExitCodes.FAILED, "this backend does not support administration"));
            int code = query(client, admin);
            out().flush();
            return code;
        }
    }

    final CommonOptionValues invocation() {
        return Objects.requireNonNull(given);
    }

    final CommandSpec spec() {
        return spec;
    }

    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Waits for a reply and returns it, or throws the exception that the request failed with. */
    static <T> T await(CompletionStage<T> reply) throws InterruptedException {
        try {
            return reply.toCompletableFuture().get(REPLY_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException known) {
                throw known;
            }
            throw e.getCause() instanceof RuntimeException bug ? bug : new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new BackendUnavailableException("no reply within " + REPLY_TIMEOUT.toSeconds() + " s", e);
        }
    }
}
