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

/** The option {@code --url}, and the client that it opens. */
public final class StoreOption {
    /** How processes are told: their arguments are for everybody to read, and the URL may have a password. */
    static final String VARIABLE = "MORTISE_URL";

    private static final Duration CHECKED_WITHIN = Duration.ofSeconds(15);

    /** It was there a moment ago, but on a small machine several processes that start at once take their time. */
    private static final Duration CONNECTED_WITHIN = Duration.ofSeconds(60);

    private static final String FORMS =
            "redis://localhost:6379, zookeeper://localhost:2181/base, etcd://localhost:2379 or redlock://h1,h2,h3";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-u", "--url"},
            paramLabel = "URL",
            description = "Where the locks live: " + FORMS + ". Default: the variable " + VARIABLE + ".")
    private @Nullable String given;

    /** What {@code --url} says, or the variable. */
    public String url() {
        return urlIfGiven()
                .orElseThrow(() ->
                        new ParameterException(spec.commandLine(), "where do the locks live? Give --url: " + FORMS));
    }

    /** The same, for a command that can do without. */
    public Optional<String> urlIfGiven() {
        Optional<String> url = Optional.ofNullable(given != null ? given : System.getenv(VARIABLE));
        if (url.filter(its -> its.startsWith("memory:")).isPresent()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "locks in memory: are seen by one process alone, and this example starts several; give " + FORMS);
        }
        return url;
    }

    /** That it can be reached: what is wrong is told once, and not by each process that it is for. */
    public void check() {
        connect(CHECKED_WITHIN).close();
    }

    /** A client that a process keeps until its end. */
    public LockClient connect() {
        return connect(CONNECTED_WITHIN);
    }

    /** What is guarded here checks fencing tokens, so there must be some. */
    private LockClient connect(Duration limit) {
        return Locks.connect(url(), ClientOptions.defaults().connectTimeout(limit), Capability.FENCING);
    }
}
