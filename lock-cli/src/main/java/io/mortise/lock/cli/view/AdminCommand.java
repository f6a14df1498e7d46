// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockException;
import io.mortise.lock.cli.invocation.CommandFailedException;
import io.mortise.lock.cli.invocation.CommonOptions;
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

/** Superclass of the commands for operators: a client, its administration, the output. */
abstract class AdminCommand implements Callable<Integer> {
    /** Every answer of an admin is bounded by itself; this only keeps a backend's mistake from hanging a shell. */
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @ParentCommand
    private @Nullable CommonOptions given;

    /** Queries the store, prints, and returns the exit code. */
    abstract int query(LockClient client, LockAdmin admin) throws Exception;

    @Override
    public final Integer call() throws Exception {
        if (!invocation().verbose()) {
            LoggingSetup.errorsOnly("io.mortise.lock"); // what the client warns of at its start is what doctor shows
        }
        try (LockClient client = invocation().connect()) {
            LockAdmin admin = client.admin()
                    .orElseThrow(
                            () -> new CommandFailedException(ExitCodes.FAILED, "this backend has no operator's view"));
            int code = query(client, admin);
            out().flush();
            return code;
        }
    }

    final CommonOptions invocation() {
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

    /** The answer, or what the question failed with. */
    static <T> T await(CompletionStage<T> answer) throws InterruptedException {
        try {
            return answer.toCompletableFuture().get(ANSWER_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException known) {
                throw known;
            }
            throw e.getCause() instanceof RuntimeException mistake ? mistake : new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new BackendUnavailableException("no answer within " + ANSWER_LIMIT.toSeconds() + " s", e);
        }
    }
}
