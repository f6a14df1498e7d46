// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Defines the {@code --url} option and opens a lock client for the given URL. */
public final class StoreOption {
    /**
     * Environment variable that passes the URL to child processes. Other users can read a process's arguments, and the URL may
     * contain a password.
     */
    static final String VARIABLE = "MORTISE_URL";

    private static final Duration CHECKED_WITHIN = Duration.ofSeconds(15);

    /** Connect timeout of child processes; long, since several of them that start together may be slow on a small machine. */
    private static final Duration CONNECTED_WITHIN = Duration.ofSeconds(60);

    private static final String FORMS =
            "redis://localhost:6379, zookeeper://localhost:2181/base, etcd://localhost:2379 or redlock://h1,h2,h3";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            description = "URL of the lock store: " + FORMS + ". Default: the environment variable " + VARIABLE + ".")
    private @Nullable String given;

    /** Returns the URL from {@code --url} or the environment variable. */
    public String url() {
        return urlIfGiven()
                .orElseThrow(() ->
                        new ParameterException(spec.commandLine(), "missing option --url, the lock store: " + FORMS));
    }

    /** Returns the URL from {@code --url} or the environment variable; empty if there is none. */
    public Optional<String> urlIfGiven() {
        Optional<String> url = Optional.ofNullable(given != null ? given : System.getenv(VARIABLE));
        if (url.filter(value -> value.startsWith("memory:")).isPresent()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "memory: locks exclude only threads of a single process, but this example starts several; use "
                            + FORMS);
        }
        return url;
    }

    /** Checks that the store is reachable, so that an error is reported once and not by each child process. */
    public void check() {
        connect(CHECKED_WITHIN).close();
    }

    /** Opens a client that the process uses until its end. */
    public LockClient connect() {
        return connect(CONNECTED_WITHIN);
    }

    /** Opens a client that supports fencing tokens, since the resources of the examples check them. */
    private LockClient connect(Duration limit) {
        return Locks.connect(url(), ClientOptions.defaults().connectTimeout(limit), Capability.FENCING);
    }
}
