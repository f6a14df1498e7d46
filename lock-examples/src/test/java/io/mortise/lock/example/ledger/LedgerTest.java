// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.Locks;
import io.mortise.lock.example.MainWithParent;
import io.mortise.lock.testkit.servers.Await;
import io.mortise.lock.testkit.servers.ChildJvm;
import io.mortise.lock.testkit.servers.ZooKeeperTestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ledger as it is started by its command, on a real ZooKeeper. */
@Tag("once")
class LedgerTest {
    /** On a machine that does many things at once, the first connection of a JVM takes its time. */
    private static final ClientOptions PATIENT = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final Duration SOON = Duration.ofSeconds(40);
    private static final int MOVES = 100; // many, so that the victim is still at it when it is seen to hold the lock
    private static final Pattern STARTED = Pattern.compile("(w\\d) is process (\\d+)");

    @TempDir
    Path dir = Path.of("");

    @Test
    void everyMoveIsThereOnceThoughAWriterIsKilledWhileItHasTheLock() throws Exception {
        Path path = dir.resolve("ledger");
        try (ZooKeeperTestServer zooKeeper = ZooKeeperTestServer.start()) {
            String url = "zookeeper://" + zooKeeper.connectString() + "/examples?sessionTimeout=3s";
            try (LockClient operator = Locks.connect(url, PATIENT);
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
                Matcher started = STARTED.matcher(
                        ledger.awaitLine(line -> STARTED.matcher(line).matches(), SOON));
                assertThat(started.matches()).isTrue();
                String victim = started.group(1);
                long pid = Long.parseLong(started.group(2));
                Await.until("the victim has written", SOON, () -> read(path).movesBy(victim) >= 3);
                Await.until(
                        "the victim has the lock",
                        SOON,
                        () -> operator.named(WriterCommand.lockName(path)).status().join().holders().stream()
                                .anyMatch(holder -> holder.pid().orElse(0) == pid));
                ProcessHandle.of(pid).orElseThrow().destroyForcibly();
                ledger.awaitLine(line -> line.equals(victim + " was killed"), SOON);
                assertThat(ledger.awaitExit(SOON)).as(ledger.lastLines()).isZero();
            }
        }
        Books books = read(path);
        assertThat(List.of(books.movesBy("w1"), books.movesBy("w2"), books.movesBy("w3")))
                .containsOnly(MOVES);
        assertThat(books.total()).isEqualTo(1000);
        assertThat(books.wrong()).isZero();
    }

    private static Books read(Path path) {
        Books books = new Books();
        try (LedgerFile file = LedgerFile.open(path)) {
            file.readNew(books);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return books;
    }
}
