// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.mortise.lock.cli.invocation.ExitCodes;
import java.io.PrintStream;
import java.util.Map;

/**
 * Ends this process after everything is closed, without Java's wait for other threads. Java would wait up to 0.3 s for threads
 * that are in native code, as gRPC's event loops are for a second after their last connection was closed: half of the time
 * that a short command takes.
 */
final class ProcessExit {
    /** Set where Java writes a class archive when it ends (ADR 0041). */
    private static final String ARCHIVE = "lockctl.archive.at.exit";

    private static final long MOMENTS_MILLIS = 1000;

    private ProcessExit() {}

    /**
     * With what was written flushed. Shutdown hooks do not run where Java would wait: they are for signals, and each command takes
     * its own back. Where a signal has begun to end the process, that goes on, and this does not return.
     */
    static void with(int code) {
        System.out.flush();
        flushIfRead(System.err);
        boolean archive = Boolean.getBoolean(ARCHIVE);
        // A command that failed has loaded too few classes for an archive.
        boolean byJava = archive && code <= ExitCodes.FAILED;
        if ((javaWouldWait() || (archive && !byJava)) && !isEnding()) {
            atOnce(code, byJava);
        }
        System.exit(code);
    }

    /** Nobody waits for ever for a standard error that is not read: what it was to say is about an end that has come. */
    private static void flushIfRead(PrintStream err) {
        Thread flushing = new Thread(err::flush, "lockctl-flush");
        flushing.setDaemon(true);
        flushing.start();
        try {
            flushing.join(MOMENTS_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static boolean isEnding() {
        Thread hook = new Thread(() -> {});
        try {
            Runtime.getRuntime().addShutdownHook(hook);
            Runtime.getRuntime().removeShutdownHook(hook);
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    private static boolean javaWouldWait() {
        return Thread.getAllStackTraces().entrySet().stream().anyMatch(ProcessExit::isInNativeCode);
    }

    private static boolean isInNativeCode(Map.Entry<Thread, StackTraceElement[]> one) {
        Thread thread = one.getKey();
        StackTraceElement[] stack = one.getValue();
        ThreadGroup group = thread.getThreadGroup();
        return thread.getState() == Thread.State.RUNNABLE
                && stack.length > 0
                && stack[0].isNativeMethod()
                && group != null
                && group.getParent() != null // else it is one of Java's own, which only looks so
                && thread != Thread.currentThread();
    }

    private static void atOnce(int code, boolean onlyLoad) {
        try {
            // Alone, where run.Libc would bind all of its calls.
            Function exit = NativeLibrary.getProcess().getFunction("_exit");
            if (!onlyLoad) { // else its classes shall be in the archive
                exit.invokeVoid(new Object[] {code});
            }
        } catch (Error | RuntimeException e) { // JNA throws even a bare Error
            return; // not on this system: then it takes a little longer
        }
    }
}
