// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.etcd.EtcdServerOptions;
import io.mortise.lock.servers.etcd.EtcdTestCluster;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.servers.redis.RedisServerOptions;
import io.mortise.lock.servers.redis.RedisTestCluster;
import io.mortise.lock.servers.redis.RedisTestSentinel;
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

/** No server outlives the JVM that started it, not even a paused one, and none leaves data. */
@Tag("once")
@Tag("long")
class KilledJvmTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** What the JVM has started, one of it paused. */
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
                RedisTestSentinel.start().nodes().get(0).pause();
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

    /** Starts them, says which processes that are, and waits for its end. */
    static final class Owner {
        public static void main(String[] args) throws InterruptedException {
            StdinWatchdog.install(); // it does not outlive the test either
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
            int guardOfThePaused = 1;
            assertThat(processes).hasSize(servers.processes + guardOfThePaused).noneMatch(ProcessState::hasEnded);
            assertThat(left(dir)).isNotEmpty();
            // As when a whole group of processes is told to end: the guards stay.
            processes.stream()
                    .flatMap(pid -> ProcessHandle.of(pid).stream())
                    .flatMap(ProcessHandle::children)
                    .forEach(ProcessHandle::destroy);
            owner.kill();
            Await.until("all have ended", LIMIT, () -> processes.stream().allMatch(ProcessState::hasEnded));
            Await.until("the data is deleted", LIMIT, () -> left(dir).isEmpty());
        }
    }

    private static List<String> left(Path dir) {
        File[] files = dir.toFile().listFiles();
        return files == null
                ? List.of()
                : Arrays.stream(files).map(File::getName).toList();
    }
}
