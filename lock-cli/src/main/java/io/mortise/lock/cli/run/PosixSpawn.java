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

/** Starts a process by {@code posix_spawnp}, in a process group or a session of its own. */
final class PosixSpawn {
    /** Process group or session of a new process. */
    enum Isolation {
        /** A process group of its own in our session, so that a terminal can be its. */
        GROUP(Platform.SET_GROUP),
        /** A session of its own: neither the terminal nor what is sent to our job reaches it. */
        SESSION(Platform.SET_SESSION);

        private final int flag;

        Isolation(int flag) {
            this.flag = flag;
        }
    }

    /** Bits that differ from system to system. */
    private static final class Platform {
        static final boolean MAC = com.sun.jna.Platform.isMac();
        static final int SET_GROUP = 0x02;
        static final int SET_DEFAULT = 0x04;
        static final int SET_MASK = 0x08;
        static final int SET_SESSION = MAC ? 0x400 : 0x80;
        static final int CLOSE_OTHERS = MAC ? 0x4000 : 0;
    }

    /** More than any system's sigset_t, posix_spawnattr_t and posix_spawn_file_actions_t take. */
    private static final int OPAQUE = 1024;

    private static final int FIRST_FOREIGN = 3;

    private PosixSpawn() {}

    /**
     * What became of it.
     *
     * @param pid the new process; meaningless with an error
     * @param error zero, or the system's number
     */
    record Result(int pid, int error) {}

    /**
     * Starts it.
     *
     * @param arguments the first is looked for on the PATH
     * @param input the descriptor of ours that is to be its standard input, and then it has no output; empty: it has our three
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
            // We ignore it, and so would the child; what was ignored before us stays ignored.
            Libc.sigaddset(signals, SignalHandlers.number(ControllingTerminal.OUTPUT_STOP));
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
                for (int fd = 0; fd < FIRST_FOREIGN; fd++) {
                    Libc.posix_spawn_file_actions_adddup2(actions, fd, fd); // spared by CLOSE_OTHERS
                }
            }
            return;
        }
        // At the start of the process, so that also what another thread opens meanwhile is closed.
        Optional<Function> closeFrom = Libc.optional("posix_spawn_file_actions_addclosefrom_np");
        if (closeFrom.isPresent()) {
            closeFrom.get().invokeInt(new Object[] {actions, FIRST_FOREIGN});
        } else {
            closeOpen(actions);
        }
    }

    /** When we were started: Java has opened the file of its own classes there. The launcher does not let that happen. */
    private static boolean inputWasClosed() {
        try {
            return Files.isSameFile(Path.of("/dev/fd/0"), Path.of(System.getProperty("java.home"), "lib", "modules"));
        } catch (IOException e) {
            return false; // a Java of another make, or an input that has no name
        }
    }

    /** The next best: what is open now. */
    private static void closeOpen(Pointer actions) {
        String[] open = new File("/proc/self/fd").list();
        if (open != null) {
            for (String name : open) {
                int fd = Integer.parseInt(name);
                if (fd >= FIRST_FOREIGN) {
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

    /** An array of pointers to texts, with a null at its end. */
    private static final class CStrings {
        private final List<Memory> texts; // keeps them from being freed
        private final Memory pointers;

        CStrings(List<byte[]> values) {
            texts = values.stream().map(CStrings::text).toList();
            pointers = new Memory((long) Native.POINTER_SIZE * (texts.size() + 1));
            pointers.clear();
            for (int i = 0; i < texts.size(); i++) {
                pointers.setPointer((long) Native.POINTER_SIZE * i, texts.get(i));
            }
        }

        private static Memory text(byte[] value) {
            Memory memory = new Memory(value.length + 1L);
            memory.write(0, value, 0, value.length);
            memory.setByte(value.length, (byte) 0);
            return memory;
        }

        Pointer first() {
            return texts.get(0);
        }

        Pointer pointers() {
            return pointers;
        }
    }
}
