// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts further processes of this program. Its standard input ends when the one that started it ends, however that ends. */
public final class ChildProgram {
    /** A process that a signal has ended shows this and the signal's number. */
    private static final int SIGNALLED = 128;

    private ChildProgram() {}

    /** Starts one with these arguments; it prints where this process prints. */
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

    /** Whether somebody has killed it, so that it said nothing about itself. */
    public static boolean wasKilled(Process ended) {
        return ended.exitValue() > SIGNALLED;
    }

    /** In the child: returns when the parent has ended. */
    public static void awaitParentsEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is said here.
        }
    }
}
