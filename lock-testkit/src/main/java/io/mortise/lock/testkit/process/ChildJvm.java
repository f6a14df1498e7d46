// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A child JVM with the class path of this one. The main class should call {@link StdinWatchdog#install()} first, so that the
 * child ends with this JVM. Thread-safe.
 */
public final class ChildJvm extends ChildProcess {
    private ChildJvm(String name, List<String> command) {
        super(name, command);
    }

    /**
     * Starts a child JVM; returns without waiting for anything that it prints.
     *
     * @param mainClass its main class, found on the class path of this JVM
     * @param systemProperties passed as {@code -Dname=value}
     * @param args its arguments
     */
    public static ChildJvm start(Class<?> mainClass, Map<String, String> systemProperties, List<String> args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // Several children share few cores: one collector thread each, and no big heap.
        command.addAll(List.of(
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path")));
        systemProperties.forEach((key, value) -> command.add("-D" + key + "=" + value));
        command.add(mainClass.getName());
        command.addAll(args);
        return new ChildJvm(mainClass.getSimpleName(), command);
    }
}
