// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import java.util.Optional;

/** The controlling terminal, and its foreground process group. */
final class ControllingTerminal {
    static final String OUTPUT_STOP = "TTOU";

    private static final String DEVICE = "/dev/tty";

    private final int fd;
    private final int ourGroup = Libc.getpgrp();

    private ControllingTerminal(int fd) {
        this.fd = fd;
    }

    /** Empty in cron, in CI, and wherever else there is none. */
    static Optional<ControllingTerminal> open() {
        int fd = Libc.open(DEVICE, Libc.OPEN_READ_WRITE);
        return fd < 0 ? Optional.empty() : Optional.of(new ControllingTerminal(fd));
    }

    /** Whether both ends of the conversation are a terminal, so that what runs is most likely to be talked to. */
    static boolean isConversation() {
        return Libc.isatty(0) == 1 && Libc.isatty(1) == 1;
    }

    static boolean isErrorOutput() {
        return Libc.isatty(2) == 1;
    }

    /** Whether our job is in the foreground. */
    boolean isOurs() {
        return Libc.tcgetpgrp(fd) == ourGroup;
    }

    boolean isGivenTo(int group) {
        return Libc.tcgetpgrp(fd) == group;
    }

    /** What is typed is for that group from now on, also Ctrl-C. */
    void give(int group) {
        Libc.tcsetpgrp(fd, group); // does not stop us: Spawn's caller ignores OUTPUT_STOP
    }

    void takeBack() {
        Libc.tcsetpgrp(fd, ourGroup);
    }
}
