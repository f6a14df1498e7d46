// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockClient;
import io.mortise.lock.etcd.EtcdLocks;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.redis.RedisLocks;
import io.mortise.lock.redlock.RedlockLocks;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.tree.ClassNode;

/**
 * Tests that no code of the library takes a foreign lock while it holds a monitor. On JDK 21 to 23, a virtual thread that waits
 * there pins its carrier thread; when all carriers are pinned, the thread that holds the lock never runs again. See ADR 0040.
 */
class MonitorRuleTest {
    @Test
    void noForeignLockIsTakenUnderAMonitor() throws Exception {
        List<ClassNode> ours = new ArrayList<>();
        for (Class<?> module : List.of(
                LockClient.class,
                MemoryLocks.class,
                RedisLocks.class,
                RedlockLocks.class,
                EtcdLocks.class,
                ZooKeeperLocks.class)) {
            ours.addAll(classesBeside(module));
        }
        assertThat(ours).hasSizeGreaterThan(300);
        assertThat(new MonitorCheck(ours).findings()).isEmpty();
    }

    @Test
    void theCheckFindsALockBehindOurOwnMethods() throws Exception {
        List<ClassNode> offender = List.of(read(Files.readAllBytes(classFile(Offender.class))));
        assertThat(new MonitorCheck(offender).findings())
                .containsExactly(
                        "MonitorRuleTest$Offender.inBlock > MonitorRuleTest$Offender.add > java/util/concurrent/LinkedBlockingQueue.add",
                        "MonitorRuleTest$Offender.inMethod > java/lang/Runnable.run");
    }

    /** Violates the rule: takes the lock of a queue, and calls foreign code, which may take any lock. */
    static final class Offender {
        private final LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
        private final Queue<String> outside = queue;

        void inBlock() {
            synchronized (queue) {
                add();
            }
            outside.add("after it");
        }

        private void add() {
            queue.add("under it");
        }

        synchronized void inMethod(Runnable foreign) {
            foreign.run();
        }
    }

    private static Path classFile(Class<?> type) throws Exception {
        Path root =
                Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        return root.resolve(type.getName().replace('.', '/') + ".class");
    }

    private static List<ClassNode> classesBeside(Class<?> type) throws Exception {
        Path root =
                Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isDirectory(root)) {
            return classesUnder(root);
        }
        try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + root.toUri()), Map.of())) {
            return classesUnder(jar.getPath("/"));
        }
    }

    private static List<ClassNode> classesUnder(Path root) throws IOException {
        List<ClassNode> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(file -> file.toString().endsWith(".class"))
                    .filter(file -> !file.toString().endsWith("module-info.class"))
                    .toList()) {
                found.add(read(Files.readAllBytes(file)));
            }
        }
        return found;
    }

    private static ClassNode read(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return node;
    }
}
