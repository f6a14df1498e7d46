// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A child JVM that runs a given main class with the class path of this JVM.
 *
 * <p>The main class should call {@link StdinWatchdog#install()} first, so that the child ends with this JVM. Thread-safe.
 */
public final class ChildJvm extends ChildProcess {
    private ChildJvm(String name, List<String> command) {
        super(name, command);
    }

    /**
     * Starts a child JVM and returns without waiting for any output.
     *
     * @param mainClass the main class, found on the class path of this JVM
     * @param systemProperties system properties, passed as {@code -Dname=value}
     * @param args arguments of the main method
     */
    public static ChildJvm start(Class<?> mainClass, Map<String, String> systemProperties, List<String> args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Several children share a few cores: each gets one garbage collector thread and a small heap.
        command.addAll(List.of(
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-Xmn16m",
                "-cp",
                System.getProperty("java.class.path")));
        systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.add(mainClass.getName());
        command.addAll(args);
        return new ChildJvm(mainClass.getSimpleName(), command);
    }
}
