// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.cli.invocation.ExitCodes;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/**
 * Forwards INT, TERM and HUP to the handler of the current phase of {@code lockctl run} or {@code hold}, for example waiting
 * for the lock or holding it. Initially, and when the last phase takes too long, a signal ends the process. Thread-safe.
 */
final class CurrentStepSignals {
    private static final List<String> NAMES =
            List.of(SignalHandlerInstaller.INTERRUPT, SignalHandlerInstaller.TERMINATE, SignalHandlerInstaller.HANGUP);

    private static final Duration GRACE_PERIOD = Duration.ofSeconds(1);

    private IntConsumer target = CurrentStepSignals::end;
    private boolean ignoresHangup;
    private int first;
    private int undelivered;

    private CurrentStepSignals() {}

    /** Installs handlers for the signals. */
    static CurrentStepSignals listen() {
        CurrentStepSignals signals = new CurrentStepSignals();
        for (String name : NAMES) {
            try {
                boolean handled = SignalHandlerInstaller.handle(name, signals::onSignal);
                signals.ignoresHangup |= !handled && name.equals(SignalHandlerInstaller.HANGUP);
            } catch (UnsupportedOperationException e) {
                // Windows has no HUP.
            }
        }
        return signals;
    }

    /** Returns whether this process was started with HUP ignored, as by nohup. */
    boolean ignoresHangup() {
        return ignoresHangup;
    }

    /** Acts as if the given signal had arrived. */
    void simulate(String name) {
        onSignal(SignalHandlerInstaller.number(name));
    }

    private synchronized void onSignal(int number) {
        if (first == 0) {
            first = number;
        }
        undelivered = number;
        deliver();
    }

    private void deliver() {
        int number = undelivered;
        if (number != 0) {
            undelivered = 0;
            target.accept(number);
        }
    }

    /** Lets the first signal interrupt a thread. */
    synchronized void interrupt(Thread waiting) {
        target = number -> {
            finish();
            waiting.interrupt();
        };
    }

    /** Keeps signals for the next {@link #forwardTo}; no thread is interrupted any more. */
    synchronized void keep() {
        target = number -> undelivered = number;
    }

    /** Forwards each signal, including one that was kept, to the given receiver. */
    synchronized void forwardTo(IntConsumer to) {
        target = to;
        deliver();
    }

    /** Ignores signals for a short time, as a second Ctrl-C often follows the first; later signals end the process. */
    synchronized void finish() {
        long begin = System.nanoTime();
        target = number -> {
            if (System.nanoTime() - begin > GRACE_PERIOD.toNanos()) {
                end(number);
            }
        };
    }

    /** Returns the first signal that arrived. */
    synchronized OptionalInt first() {
        return first == 0 ? OptionalInt.empty() : OptionalInt.of(first);
    }

    private static void end(int number) {
        if (isInterrupt(ExitCodes.ofSignal(number))) {
            SignalHandlerInstaller.dieFrom(SignalHandlerInstaller.INTERRUPT);
        }
        Runtime.getRuntime().halt(ExitCodes.ofSignal(number));
    }

    /** Returns whether the exit code is that of a program that INT has ended. */
    static boolean isInterrupt(int code) {
        return code == ExitCodes.ofSignal(SignalHandlerInstaller.number(SignalHandlerInstaller.INTERRUPT));
    }

    /**
     * Ends this process by INT if INT has arrived and the exit code is that of INT; otherwise returns. A shell that runs
     * lockctl in a loop continues the loop after Ctrl-C unless lockctl ends by INT.
     */
    void dieIfInterrupted(int code) {
        if (isInterrupt(code) && first().isPresent()) {
            SignalHandlerInstaller.dieFrom(SignalHandlerInstaller.INTERRUPT);
        }
    }
}
