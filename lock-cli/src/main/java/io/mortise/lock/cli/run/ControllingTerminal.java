// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Optional;

/** Reads and sets the foreground process group of the controlling terminal. */
final class ControllingTerminal {
    static final String OUTPUT_STOP = "TTOU";

    private static final String DEVICE = "/dev/tty";

    private final int fd;
    private final int ourGroup = Libc.getpgrp();

    private ControllingTerminal(int fd) {
        this.fd = fd;
    }

    /** Opens the controlling terminal; empty if there is none, as in cron or CI. */
    static Optional<ControllingTerminal> open() {
        int fd = Libc.open(DEVICE, Libc.OPEN_READ_WRITE);
        return fd < 0 ? Optional.empty() : Optional.of(new ControllingTerminal(fd));
    }

    /** Returns whether standard input and output are terminals, so that the command is most likely interactive. */
    static boolean isInteractive() {
        return Libc.isatty(0) == 1 && Libc.isatty(1) == 1;
    }

    /** Returns whether standard error is a terminal. */
    static boolean isErrorTerminal() {
        return Libc.isatty(2) == 1;
    }

    /** Returns whether the process group of this process is in the foreground. */
    boolean isForeground() {
        return Libc.tcgetpgrp(fd) == ourGroup;
    }

    /** Returns whether the given process group is in the foreground. */
    boolean isForeground(int group) {
        return Libc.tcgetpgrp(fd) == group;
    }

    /** Makes a process group the foreground group, which receives all input from now on, including Ctrl-C. */
    void setForeground(int group) {
        Libc.tcsetpgrp(fd, group); // does not stop this process, as JobControl.prepare ignores OUTPUT_STOP
    }

    /** Makes the process group of this process the foreground group again. */
    void resetForeground() {
        Libc.tcsetpgrp(fd, ourGroup);
    }
}
