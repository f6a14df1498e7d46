// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A child process with a guard shell that kills it when this JVM ends. The program itself gets no input. */
public final class GuardedProcess extends ChildProcess {
    /**
     * Starts a background job as the guard and replaces the shell by the program, so that both have the same process id. The
     * guard reads the pipe from this JVM until it ends. If this JVM has ended, the guard kills the program and deletes its
     * data; if the program has already ended, the kill fails and the data is kept for the next start. The guard reads through
     * descriptor 3, since the input of a background job is /dev/null. It ignores signals that are sent to all processes of a
     * terminal or build.
     */
    private static final String GUARD = """
            exec 3<&0
            { trap '' HUP INT QUIT TERM; read -r _ <&3; kill -KILL $$ && rm -rf -- "$0"; } >/dev/null 2>&1 &
            exec "$@" </dev/null 3<&-
            """;

    private GuardedProcess(String name, List<String> command) {
        super(name, command);
    }

    /**
     * Starts the program and returns without waiting for it.
     *
     * @param name name of the process in messages and logs
     * @param data data directory of the program, deleted when this JVM ends
     * @param command the program and its arguments
     */
    public static GuardedProcess start(String name, Path data, List<String> command) {
        List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, data.toString()));
        guarded.addAll(command);
        return new GuardedProcess(name, guarded);
    }
}
