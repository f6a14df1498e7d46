// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisSentinelTestDeployment;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.process.ChildJvm;
import io.mortise.lock.testkit.process.ProcessState;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that no server process and no data remain after the JVM that started them was killed. This includes paused servers.
 */
@Tag("once")
@Tag("long")
class KilledJvmTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** Servers that the killed JVM has started, one of which is paused. */
    enum Servers {
        REDIS(2) {
            @Override
            void start() {
                RedisTestServer.start(RedisServerOptions.defaults().withKeptData());
                RedisTestServer.start(RedisServerOptions.defaults().withUnixSocket())
                        .pause();
            }
        },
        REDIS_CLUSTER(6) {
            @Override
            void start() {
                RedisTestCluster.start().nodes().get(0).pause();
            }
        },
        REDIS_SENTINEL(5) {
            @Override
            void start() {
                RedisSentinelTestDeployment.start().nodes().get(0).pause();
            }
        },
        ETCD(2) {
            @Override
            void start() {
                EtcdTestServer.start(EtcdServerOptions.defaults().withKeptData());
                EtcdTestServer.start(EtcdServerOptions.defaults().withTls()).pause();
            }
        },
        ETCD_CLUSTER(3) {
            @Override
            void start() {
                EtcdTestCluster.start().nodes().get(0).pause();
            }
        };

        private final int processes;

        Servers(int processes) {
            this.processes = processes;
        }

        abstract void start();
    }

    /** Starts the servers, prints their process ids, and then sleeps until it is killed. */
    static final class Owner {
        public static void main(String[] args) throws InterruptedException {
            StdinWatchdog.install(); // ends this JVM if the test ends
            Servers.valueOf(args[0]).start();
            System.out.println(ProcessHandle.current()
                    .children()
                    .map(child -> Long.toString(child.pid()))
                    .collect(Collectors.joining(" ")));
            Thread.currentThread().join();
        }
    }

    @ParameterizedTest
    @EnumSource
    void killedJvm_leavesNoServer_andNoData(Servers servers, @TempDir Path dir) {
        try (ChildJvm owner =
                ChildJvm.start(Owner.class, Map.of("java.io.tmpdir", dir.toString()), List.of(servers.name()))) {
            List<Long> processes = Arrays.stream(owner.nextLine(LIMIT).split(" ", -1))
                    .map(Long::valueOf)
                    .toList();
            int guardOfPausedServer = 1;
            assertThat(processes)
                    .hasSize(servers.processes + guardOfPausedServer)
                    .noneMatch(ProcessState::hasEnded);
            assertThat(remainingFiles(dir)).isNotEmpty();
            // As when a signal ends a whole process group: the guard processes survive that.
            processes.stream()
                    .flatMap(pid -> ProcessHandle.of(pid).stream())
                    .flatMap(ProcessHandle::children)
                    .forEach(ProcessHandle::destroy);
            owner.kill();
            Await.until("all have ended", LIMIT, () -> processes.stream().allMatch(ProcessState::hasEnded));
            Await.until("the data is deleted", LIMIT, () -> remainingFiles(dir).isEmpty());
        }
    }

    private static List<String> remainingFiles(Path dir) {
        File[] files = dir.toFile().listFiles();
        return files == null
                ? List.of()
                : Arrays.stream(files)
                        .map(File::getName)
                        .filter(name -> !name.startsWith("mortise-test-ports")) // all JVMs of a user share it
                        .toList();
    }
}
