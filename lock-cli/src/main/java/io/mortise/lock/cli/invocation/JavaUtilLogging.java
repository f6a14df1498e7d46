// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.logging.LogManager;

/**
 * Limits java.util.logging, which gRPC uses, to warnings. The JDK instantiates this class when the first message is logged that
 * way; setting a level in advance would load java.util.logging at each start.
 */
public final class JavaUtilLogging {
    private static final String CONFIGURATION = "java.util.logging.config.class";
    private static final String WARNINGS = "handlers=java.util.logging.ConsoleHandler\n.level=WARNING\n";

    /** Called by the JDK. */
    public JavaUtilLogging() throws IOException {
        LogManager.getLogManager()
                .readConfiguration(new ByteArrayInputStream(WARNINGS.getBytes(StandardCharsets.ISO_8859_1)));
    }

    /** Registers this class before the first message is logged. A configuration that the user sets with -D takes precedence. */
    static void configure(boolean verbose) {
        if (!verbose && System.getProperty("java.util.logging.config.file") == null) {
            System.getProperties().putIfAbsent(CONFIGURATION, JavaUtilLogging.class.getName());
        }
    }
}
