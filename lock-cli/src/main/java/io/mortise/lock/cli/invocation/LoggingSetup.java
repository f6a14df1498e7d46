// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.util.List;

/** Configures slf4j-simple, before the first logger is created. What the user set with -D takes precedence. */
public final class LoggingSetup {
    private static final String PREFIX = "org.slf4j.simpleLogger.";

    /** What they warn of is a lease that is lost or was not released, which the command tells the user, with what follows. */
    private static final List<String> TOLD = List.of("runtime.ThrottledLog", "client.CoreClient");

    private LoggingSetup() {}

    /** Before the first logger is made. */
    public static void configure(boolean verbose) {
        set("defaultLogLevel", verbose ? "info" : "warn");
        set("log.org.apache.zookeeper", verbose ? "warn" : "error");
        if (!verbose) {
            // What they say of a store that is away, or of an end in the middle of something, the command says in its
            // own words.
            set("log.io.lettuce", "error");
            set("log.io.netty", "error");
            set("log.io.netty.util.concurrent", "off");
            // Nor is each run of a job the place to hear of settings that endanger locks: doctor tells.
            set("log.io.mortise.lock.spi.support.StoreExposureCheck", "error");
            set("log.io.mortise.lock.redis.admin.EvictionCheck", "error");
            // What a user would take for a hang: that masters in quarantine are waited for, and for how long.
            set("log.io.mortise.lock.redlock.master.ConnectMajorityWait", "info");
            for (String told : TOLD) {
                set("log.io.mortise.lock.core." + told, "error");
            }
        }
        JavaUtilLogging.use(verbose);
        if (verbose) {
            times();
        }
        set("showShortLogName", "true");
    }

    /** With the time on each line: for commands that last. Reading the formats of dates takes a while, so others go without. */
    public static void times() {
        set("showDateTime", "true");
        set("dateTimeFormat", "HH:mm:ss.SSS");
    }

    /** Only errors from there: for warnings that another command shows. */
    public static void errorsOnly(String loggers) {
        set("log." + loggers, "error");
    }

    private static void set(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
