// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process with a small shell beside it, which kills it when this JVM ends. The program itself gets no input. */
public final class GuardedProcess extends ChildProcess {
    /**
     * The shell becomes the program, so their process id is one, and leaves a child behind. That one reads the pipe from this
     * JVM until its end: this JVM has ended, or the program has ended and its data stays for its next life. Through descriptor 3,
     * as a background job's input is /dev/null. Signals for all of a terminal's or a build's processes do not end it early.
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
     * Starts the program; returns without waiting for anything that it does.
     *
     * @param data its directory, which goes with this JVM
     */
    public static GuardedProcess start(String name, Path data, List<String> command) {
        List<String> guarded = new ArrayList<>(List.of("sh", "-c", GUARD, data.toString()));
        guarded.addAll(command);
        return new GuardedProcess(name, guarded);
    }
}
