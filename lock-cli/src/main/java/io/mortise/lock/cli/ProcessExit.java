// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.PrintStream;
import java.util.Map;

/**
 * Ends the JVM without waiting for threads that run native code. {@code System.exit} would wait up to 0.3 s for such threads,
 * about half of the total run time of a short command. gRPC's event loops, for example, stay in native code for a second after
 * their last connection was closed.
 */
final class ProcessExit {
    /** The system property that the launcher sets if the JVM writes a class archive when it exits (ADR 0041). */
    private static final String ARCHIVE = "lockctl.archive.at.exit";

    private static final long FLUSH_TIMEOUT_MILLIS = 1000;

    private ProcessExit() {}

    /**
     * Flushes the standard streams and exits with the given code.
     *
     * <p>If the JVM would wait for a thread, shutdown hooks do not run: they only serve signals, and each command removes its
     * own hook. If a signal is already shutting down the JVM, that shutdown continues, and this method does not return.
     */
    static void with(int code) {
        System.out.flush();
        flushBriefly(System.err);
        boolean archive = Boolean.getBoolean(ARCHIVE);
        // A failed command has not loaded enough classes for a useful archive.
        boolean exitsNormally = archive && code <= ExitCodes.FAILED;
        if ((exitWouldWait() || (archive && !exitsNormally)) && !isShuttingDown()) {
            exitImmediately(code, exitsNormally);
        }
        System.exit(code);
    }

    /** Flushes standard error for a limited time: its reader may have stalled, and must not keep the process from exiting. */
    private static void flushBriefly(PrintStream err) {
        Thread flushing = new Thread(err::flush, "lockctl-flush");
        flushing.setDaemon(true);
        flushing.start();
        try {
            flushing.join(FLUSH_TIMEOUT_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isShuttingDown() {
        Thread hook = new Thread(() -> {});
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static boolean exitWouldWait() {
        return Thread.getAllStackTraces().entrySet().stream().anyMatch(ProcessExit::isInNativeCode);
    }

    private static boolean isInNativeCode(Map.Entry<Thread, StackTraceElement[]> entry) {
        Thread thread = entry.getKey();
        StackTraceElement[] stack = entry.getValue();
        ThreadGroup group = thread.getThreadGroup();
        return thread.getState() == Thread.State.RUNNABLE
                && stack.length > 0
                && stack[0].isNativeMethod()
                && group != null
                && group.getParent() != null // threads of the JVM itself only appear to be in native code
                && thread != Thread.currentThread();
    }

    private static void exitImmediately(int code, boolean onlyLoad) {
        try {
            // Binds this one function only: run.Libc would bind all of its functions.
            Function exit = NativeLibrary.getProcess().getFunction("_exit");
            if (!onlyLoad) { // otherwise JNA's classes are loaded only so that the archive contains them
                exit.invokeVoid(new Object[] {code});
            }
        } catch (Error | RuntimeException e) { // JNA throws even java.lang.Error itself
            return; // _exit is not available here: the normal exit takes a little longer
        }
    }
}
