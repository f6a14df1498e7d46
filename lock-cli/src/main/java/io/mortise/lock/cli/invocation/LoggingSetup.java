// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.invocation;

import java.util.List;

/** Configures slf4j-simple before the first logger is created. System properties that the user sets with -D take precedence. */
public final class LoggingSetup {
    private static final String PREFIX = "org.slf4j.simpleLogger.";

    /** Loggers that warn of a lost or unreleased lease, which the command reports to the user itself, with the consequences. */
    private static final List<String> REPORTED_BY_COMMAND = List.of("runtime.ThrottledLog", "client.CoreClient");

    private LoggingSetup() {}

    /** Sets the log levels; must be called before the first logger is created. */
    public static void configure(boolean verbose) {
        set("defaultLogLevel", verbose ? "info" : "warn");
        set("log.org.apache.zookeeper", verbose ? "warn" : "error");
        if (!verbose) {
            // The command itself reports an unreachable store or an interrupted operation.
            set("log.io.lettuce", "error");
            set("log.io.netty", "error");
            set("log.io.netty.util.concurrent", "off");
            // Settings that endanger locks are reported by doctor, not by each run of a job.
            set("log.io.mortise.lock.spi.support.StoreExposureCheck", "error");
            set("log.io.mortise.lock.redis.admin.EvictionCheck", "error");
            // Without this message a user would take the wait for quarantined masters for a hang.
            set("log.io.mortise.lock.redlock.master.ConnectMajorityWait", "info");
            for (String logger : REPORTED_BY_COMMAND) {
                set("log.io.mortise.lock.core." + logger, "error");
            }
        }
        JavaUtilLogging.configure(verbose);
        if (verbose) {
            showTimes();
        }
        set("showShortLogName", "true");
    }

    /** Adds the time to each log line, for long-running commands. Short commands skip this, as loading date formats is slow. */
    public static void showTimes() {
        set("showDateTime", "true");
        set("dateTimeFormat", "HH:mm:ss.SSS");
    }

    /** Hides the warnings of a logger and the loggers below it, for warnings that another command shows. */
    public static void errorsOnly(String loggers) {
        set("log." + loggers, "error");
    }

    private static void set(String name, String value) {
        if (System.getProperty(PREFIX + name) == null) {
            System.setProperty(PREFIX + name, value);
        }
    }
}
