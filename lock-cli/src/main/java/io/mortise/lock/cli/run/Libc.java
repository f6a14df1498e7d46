// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The functions of the C library that {@code lockctl run} calls through JNA. */
@SuppressWarnings("MemberName")
final class Libc {
    static final int OPEN_READ_WRITE = 2;
    static final int NO_HANG = 1;
    static final int INTERRUPTED = 4;
    private static final short POLL_OUT = 4;

    private static final NativeLibrary LIBRARY = NativeLibrary.getProcess();

    static {
        Native.register(Libc.class, LIBRARY);
    }

    private Libc() {}

    /** Returns the raw environment of this process: Java's copy has lost characters that its encoding cannot represent. */
    static Pointer environ() {
        return LIBRARY.getGlobalVariableAddress("environ").getPointer(0);
    }

    /** Returns a function that not every system has. */
    static Optional<Function> optional(String name) {
        try {
            return Optional.of(LIBRARY.getFunction(name));
        } catch (UnsatisfiedLinkError e) {
            return Optional.empty();
        }
    }

    /** Returns whether a short write to the descriptor would complete or fail without blocking. */
    static boolean canWrite(int fd) {
        try (Memory request = new Memory(Long.BYTES)) {
            request.setInt(0, fd);
            request.setShort(Integer.BYTES, POLL_OUT);
            request.setShort(Integer.BYTES + Short.BYTES, (short) 0);
            return poll(request, new NativeLong(1), 0) == 1;
        }
    }

    private static native int poll(Pointer requests, NativeLong count, int millis);

    static native int posix_spawnp(
            int[] pid, Pointer file, Pointer actions, Pointer attributes, Pointer argv, Pointer envp);

    static native int posix_spawn_file_actions_init(Pointer actions);

    static native int posix_spawn_file_actions_adddup2(Pointer actions, int from, int to);

    static native int posix_spawn_file_actions_addopen(Pointer actions, int fd, String path, int flags, int mode);

    static native int posix_spawn_file_actions_addclose(Pointer actions, int fd);

    static native int posix_spawn_file_actions_destroy(Pointer actions);

    static native int posix_spawnattr_init(Pointer attributes);

    static native int posix_spawnattr_setflags(Pointer attributes, short flags);

    static native int posix_spawnattr_setpgroup(Pointer attributes, int group);

    static native int posix_spawnattr_setsigdefault(Pointer attributes, Pointer signals);

    static native int posix_spawnattr_setsigmask(Pointer attributes, Pointer signals);

    static native int posix_spawnattr_destroy(Pointer attributes);

    static native int sigemptyset(Pointer signals);

    static native int sigaddset(Pointer signals, int signal);

    static native int waitpid(int pid, int[] status, int options);

    static native int waitid(int idType, int id, Pointer info, int options);

    static native int getpgid(int pid);

    static native int kill(int pid, int signal);

    static native int getpgrp();

    static native int getpid();

    static native int pipe(int[] ends);

    static native NativeLong write(int fd, byte[] bytes, NativeLong count);

    static native int open(String path, int flags);

    static native int close(int fd);

    static native int isatty(int fd);

    static native int tcgetpgrp(int fd);

    static native int tcsetpgrp(int fd, int group);

    static native @Nullable String strerror(int error);
}
