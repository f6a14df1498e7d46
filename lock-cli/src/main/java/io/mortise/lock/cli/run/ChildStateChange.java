// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;

/**
 * The end or the stop of a child process, as {@code waitid} reports it. A child that has ended is not reaped, so that its id
 * remains reserved.
 *
 * @param pid the id of the child
 * @param stopped whether a signal has stopped the child; otherwise the child has ended
 * @param status the number of that signal; after an end also the exit code
 */
record ChildStateChange(int pid, boolean stopped, int status) {
    private static final int BY_ID = 1;
    private static final int ANY_CHILD = 0;
    private static final int EXITED = 4;
    private static final int STOPPED = Platform.isMac() ? 8 : 2;
    private static final int KEEP = Platform.isMac() ? 0x20 : 0x0100_0000;

    /** A size in bytes that suffices for siginfo_t on any system. */
    private static final int INFO_BYTES = 256;

    private static final int CODE_OFFSET = 8;
    private static final int PID_OFFSET = Platform.isLinux() && Native.POINTER_SIZE == Long.BYTES ? 16 : 12;
    private static final int STATUS_OFFSET = PID_OFFSET + 2 * Integer.BYTES; // after the user id
    private static final int STOPPED_CODE = 5;

    /** Waits until the child with this id ends or is stopped. */
    static ChildStateChange await(int pid) {
        return await(BY_ID, pid);
    }

    /** Waits until any child ends or is stopped. */
    static ChildStateChange awaitAny() {
        return await(ANY_CHILD, 0);
    }

    private static ChildStateChange await(int type, int id) {
        try (Memory info = new Memory(INFO_BYTES)) {
            info.clear();
            while (Libc.waitid(type, id, info, EXITED | STOPPED | KEEP) != 0) {
                if (Native.getLastError() != Libc.INTERRUPTED) {
                    throw new IllegalStateException(
                            "cannot wait for the command: " + Libc.strerror(Native.getLastError()));
                }
            }
            return new ChildStateChange(
                    info.getInt(PID_OFFSET), info.getInt(CODE_OFFSET) == STOPPED_CODE, info.getInt(STATUS_OFFSET));
        }
    }

    /** Lets the system forget this stop, so that it is not reported again. An end that has followed is still reported. */
    void acknowledgeStop() {
        try (Memory info = new Memory(INFO_BYTES)) {
            Libc.waitid(BY_ID, pid, info, STOPPED | Libc.NO_HANG);
        }
    }
}
