// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Starts a process with {@code posix_spawnp}, in a new process group or a new session. */
final class PosixSpawn {
    /** The separation of a new process from this one: a new process group or a new session. */
    enum Isolation {
        /** A new process group in the session of this process, so that it can have the controlling terminal. */
        GROUP(Platform.SET_GROUP),
        /** A new session, which signals of the terminal or to the job of this process do not reach. */
        SESSION(Platform.SET_SESSION);

        private final int flag;

        Isolation(int flag) {
            this.flag = flag;
        }
    }

    /** Flags of {@code posix_spawn} that differ between systems. */
    private static final class Platform {
        static final boolean MAC = com.sun.jna.Platform.isMac();
        static final int SET_GROUP = 0x02;
        static final int SET_DEFAULT = 0x04;
        static final int SET_MASK = 0x08;
        static final int SET_SESSION = MAC ? 0x400 : 0x80;
        static final int CLOSE_OTHERS = MAC ? 0x4000 : 0;
    }

    /** A size in bytes that suffices for sigset_t, posix_spawnattr_t and posix_spawn_file_actions_t on any system. */
    private static final int OPAQUE = 1024;

    private static final int FIRST_NON_STANDARD = 3;

    private PosixSpawn() {}

    /**
     * The result of a start.
     *
     * @param pid the id of the new process; undefined after an error
     * @param error zero, or the error number of the system
     */
    record Result(int pid, int error) {}

    /**
     * Starts a process.
     *
     * @param arguments the command and its arguments; the command is searched on the PATH
     * @param input the descriptor to use as standard input, while output goes to /dev/null; if empty, the process inherits
     *     standard input, output and error
     */
    static Result start(
            List<byte[]> arguments, List<byte[]> environment, Isolation isolation, Optional<Integer> input) {
        Memory actions = zeroed();
        Memory attributes = zeroed();
        Memory signals = zeroed();
        Libc.posix_spawn_file_actions_init(actions);
        Libc.posix_spawnattr_init(attributes);
        try {
            connect(actions, input);
            Libc.posix_spawnattr_setflags(attributes, (short)
                    (isolation.flag | Platform.SET_DEFAULT | Platform.SET_MASK | Platform.CLOSE_OTHERS));
            Libc.posix_spawnattr_setpgroup(attributes, 0);
            Libc.sigemptyset(signals);
            Libc.posix_spawnattr_setsigmask(attributes, signals);
            // This process ignores the signal, and the child would inherit that. Signals ignored by our parent stay
            // ignored.
            Libc.sigaddset(signals, SignalHandlerInstaller.number(ControllingTerminal.OUTPUT_STOP));
            Libc.posix_spawnattr_setsigdefault(attributes, signals);

            CStrings argv = new CStrings(arguments);
            CStrings envp = new CStrings(environment);
            int[] pid = new int[1];
            int error = Libc.posix_spawnp(pid, argv.first(), actions, attributes, argv.pointers(), envp.pointers());
            return new Result(pid[0], error);
        } finally {
            Libc.posix_spawnattr_destroy(attributes);
            Libc.posix_spawn_file_actions_destroy(actions);
        }
    }

    private static void connect(Pointer actions, Optional<Integer> input) {
        input.ifPresent(fd -> {
            Libc.posix_spawn_file_actions_adddup2(actions, fd, 0);
            Libc.posix_spawn_file_actions_addopen(actions, 1, "/dev/null", Libc.OPEN_READ_WRITE, 0);
            Libc.posix_spawn_file_actions_addopen(actions, 2, "/dev/null", Libc.OPEN_READ_WRITE, 0);
        });
        if (input.isEmpty() && inputWasClosed()) {
            Libc.posix_spawn_file_actions_addopen(actions, 0, "/dev/null", Libc.OPEN_READ_WRITE, 0);
        }
        if (Platform.MAC) {
            if (input.isEmpty()) {
                for (int fd = 0; fd < FIRST_NON_STANDARD; fd++) {
                    Libc.posix_spawn_file_actions_adddup2(actions, fd, fd); // exempt from CLOSE_OTHERS
                }
            }
            return;
        }
        // Takes effect when the process starts, so that files that other threads open meanwhile are closed too.
        Optional<Function> closeFrom = Libc.optional("posix_spawn_file_actions_addclosefrom_np");
        if (closeFrom.isPresent()) {
            closeFrom.get().invokeInt(new Object[] {actions, FIRST_NON_STANDARD});
        } else {
            closeOpen(actions);
        }
    }

    /**
     * Returns whether standard input was closed when this JVM started: then the JVM has opened its own class file image there.
     * The launcher prevents that.
     */
    private static boolean inputWasClosed() {
        try {
            return Files.isSameFile(Path.of("/dev/fd/0"), Path.of(System.getProperty("java.home"), "lib", "modules"));
        } catch (IOException e) {
            return false; // a JVM with another layout, or an input without a path
        }
    }

    /** Closes the descriptors that are open now, where the system cannot close all of them. */
    private static void closeOpen(Pointer actions) {
        String[] open = new File("/proc/self/fd").list();
        if (open != null) {
            for (String name : open) {
                int fd = Integer.parseInt(name);
                if (fd >= FIRST_NON_STANDARD) {
                    Libc.posix_spawn_file_actions_addclose(actions, fd);
                }
            }
        }
    }

    private static Memory zeroed() {
        Memory memory = new Memory(OPAQUE);
        memory.clear();
        return memory;
    }

    /** A null-terminated array of pointers to C strings. */
    private static final class CStrings {
        private final List<Memory> strings; // keeps the memory from being freed
        private final Memory pointers;

        CStrings(List<byte[]> values) {
            strings = values.stream().map(CStrings::string).toList();
            pointers = new Memory((long) Native.POINTER_SIZE * (strings.size() + 1));
            pointers.clear();
            for (int i = 0; i < strings.size(); i++) {
                pointers.setPointer((long) Native.POINTER_SIZE * i, strings.get(i));
            }
        }

        private static Memory string(byte[] value) {
            Memory memory = new Memory(value.length + 1L);
            memory.write(0, value, 0, value.length);
            memory.setByte(value.length, (byte) 0);
            return memory;
        }

        Pointer first() {
            return strings.get(0);
        }

        Pointer pointers() {
            return pointers;
        }
    }
}
