// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.cli.invocation.ExitCodes;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.IntConsumer;

/**
 * Forwards INT, TERM and HUP to the command. What they do depends on how far the command is; at first, and when it is nearly
 * over, they end the process. Thread-safe.
 */
final class SignalForwarding {
    private static final List<String> NAMES =
            List.of(SignalHandlers.INTERRUPT, SignalHandlers.TERMINATE, SignalHandlers.HANGUP);

    private static final Duration MOMENTS = Duration.ofSeconds(1);

    private IntConsumer target = SignalForwarding::end;
    private boolean ignoresHangup;
    private int first;
    private int undelivered;

    private SignalForwarding() {}

    static SignalForwarding listen() {
        SignalForwarding signals = new SignalForwarding();
        for (String name : NAMES) {
            try {
                boolean heard = SignalHandlers.handle(name, signals::arrived);
                signals.ignoresHangup |= !heard && name.equals(SignalHandlers.HANGUP);
            } catch (UnsupportedOperationException e) {
                // Windows has no HUP.
            }
        }
        return signals;
    }

    /** Whether we were started so, as by nohup. */
    boolean ignoresHangup() {
        return ignoresHangup;
    }

    /** As if that signal had come. */
    void pretend(String name) {
        arrived(SignalHandlers.number(name));
    }

    private synchronized void arrived(int number) {
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

    /** The first one interrupts that thread. */
    synchronized void interrupt(Thread waiting) {
        target = number -> {
            finish();
            waiting.interrupt();
        };
    }

    /** They are kept for {@link #forwardTo} now; and no interrupt comes any more. */
    synchronized void keep() {
        target = number -> undelivered = number;
    }

    /** Each goes there, also one that has been kept. */
    synchronized void forwardTo(IntConsumer to) {
        target = to;
        deliver();
    }

    /** What is left to do takes moments. They end the process only if it takes longer; a second Ctrl-C often follows the first. */
    synchronized void finish() {
        long begin = System.nanoTime();
        target = number -> {
            if (System.nanoTime() - begin > MOMENTS.toNanos()) {
                end(number);
            }
        };
    }

    /** The first that came. */
    synchronized OptionalInt first() {
        return first == 0 ? OptionalInt.empty() : OptionalInt.of(first);
    }

    private static void end(int number) {
        if (isInterrupt(ExitCodes.ofSignal(number))) {
            SignalHandlers.dieOf(SignalHandlers.INTERRUPT);
        }
        Runtime.getRuntime().halt(ExitCodes.ofSignal(number));
    }

    /** Whether the exit code is that of a program that an interrupt ended. */
    static boolean isInterrupt(int code) {
        return code == ExitCodes.ofSignal(SignalHandlers.number(SignalHandlers.INTERRUPT));
    }

    /**
     * If we were interrupted and it ended us, dies of it; returns otherwise. A shell that runs us in a loop goes on with the
     * loop after Ctrl-C unless we do.
     */
    void dieIfInterrupted(int code) {
        if (isInterrupt(code) && first().isPresent()) {
            SignalHandlers.dieOf(SignalHandlers.INTERRUPT);
        }
    }
}
