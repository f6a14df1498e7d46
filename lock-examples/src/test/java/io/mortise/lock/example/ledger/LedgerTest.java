// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.MainWithParent;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.process.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the ledger example in its own processes, started by its command, on a real ZooKeeper server. */
@Tag("once")
@Tag("long")
class LedgerTest {
    /** Options with a long timeout, since the first connection of a JVM takes long on a busy machine. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final Duration SOON = Duration.ofSeconds(40);
    private static final int MOVES =
            100; // many, so that the writers are still running when the test sees one hold the lock
    private static final int WRITERS = 3;
    private static final Pattern STARTED = Pattern.compile("(w\\d) is process (\\d+)");

    @TempDir
    Path dir = Path.of("");

    @Test
    void everyMoveIsWrittenOnceEvenIfAWriterIsKilledWhileHoldingTheLock() throws Exception {
        Path path = dir.resolve("ledger");
        try (ZooKeeperTestServer zooKeeper = ZooKeeperTestServer.start()) {
            String url = "zookeeper://" + zooKeeper.connectString() + "/examples?sessionTimeout=3s";
            try (LockClient operator = Locks.connect(url, LONG_TIMEOUTS);
                    ChildJvm ledger = ChildJvm.start(
                            MainWithParent.class,
                            Map.of(),
                            List.of(
                                    "ledger",
                                    "--url",
                                    url,
                                    "--moves",
                                    String.valueOf(MOVES),
                                    "--file",
                                    path.toString()))) {
                Map<Long, String> writers = new HashMap<>();
                while (writers.size() < WRITERS) {
                    Matcher started = STARTED.matcher(
                            ledger.awaitLine(line -> STARTED.matcher(line).matches(), SOON));
                    assertThat(started.matches()).isTrue();
                    writers.put(Long.parseLong(started.group(2)), started.group(1));
                }
                AtomicLong victim = new AtomicLong();
                Await.until("a writer that has written holds the lock", SOON, () -> {
                    victim.set(0);
                    for (LockHolder holder : operator.named(LedgerWriterCommand.lockName(path))
                            .status()
                            .join()
                            .holders()) {
                        victim.set(holder.pid().orElse(0));
                    }
                    String writer = writers.get(victim.get());
                    return writer != null && read(path).movesBy(writer) >= 3;
                });
                ProcessHandle.of(victim.get()).orElseThrow().destroyForcibly();
                ledger.awaitLine(line -> line.equals(writers.get(victim.get()) + " was killed"), SOON);
                assertThat(ledger.awaitExit(SOON)).as(ledger.lastLines()).isZero();
            }
        }
        LedgerBalances balances = read(path);
        assertThat(List.of(balances.movesBy("w1"), balances.movesBy("w2"), balances.movesBy("w3")))
                .containsOnly(MOVES);
        assertThat(balances.total()).isEqualTo(1000);
        assertThat(balances.wrong()).isZero();
    }

    private static LedgerBalances read(Path path) throws IOException {
        LedgerBalances balances = new LedgerBalances();
        try (AppendOnlyLedgerFile file = AppendOnlyLedgerFile.open(path)) {
            file.readNew(balances);
        }
        return balances;
    }
}
