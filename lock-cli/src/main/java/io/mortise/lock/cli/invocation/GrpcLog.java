// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/**
 * gRPC, below etcd's client, logs by java.util.logging, which prints INFO unless it is told otherwise. Told by a class that the
 * JDK makes when something first logs that way: to load that log here would cost every command time.
 */
public final class GrpcLog {
    private static final String CLASS = "java.util.logging.config.class";
    private static final String WARNINGS =
            ".level=WARNING\nhandlers=java.util.logging.ConsoleHandler\njava.util.logging.ConsoleHandler.level=WARNING\n";

    /** Called by the JDK. */
    public GrpcLog() throws IOException {
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(WARNINGS.getBytes(StandardCharsets.ISO_8859_1)));
    }

    static void quiet(boolean verbose) {
        if (!verbose
                && System.getProperty(CLASS) == null
                && System.getProperty("java.util.logging.config.file") == null) {
            System.setProperty(CLASS, GrpcLog.class.getName());
        }
    }
}
