// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts this program again in child processes. A child's standard input ends when its parent ends, even if the parent is
 * killed.
 */
public final class ChildProgram {
    /** Base of the exit codes of processes that were ended by a signal; the signal's number is added. */
    private static final int SIGNALLED = 128;

    private ChildProgram() {}

    /**
     * Starts a child process with the output and error streams of this process.
     *
     * @param url URL of the lock store, which the child gets through its environment
     * @param args command line of the child
     */
    public static Process start(String url, List<String> args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), ExamplesMain.class.getName()));
        command.addAll(args);
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put(StoreOption.VARIABLE, url);
        return builder.start();
    }

    /** Returns whether an ended child was killed by a signal, so that it could not report an error. */
    public static boolean wasKilled(Process ended) {
        return ended.exitValue() > SIGNALLED;
    }

    /** Waits in a child until its parent has ended. */
    public static void awaitParentExit() throws IOException {
        while (System.in.read() >= 0) {
            // The parent sends no input.
        }
    }
}
