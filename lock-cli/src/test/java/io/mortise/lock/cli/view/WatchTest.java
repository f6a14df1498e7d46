// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockStatus;
import io.mortise.lock.cli.CommandLineRun;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of {@code lockctl watch} in a pipe. */
class WatchTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private static SortedMap<String, LockStatus> held(LockClient client) throws InterruptedException {
        return HeldLocksQuery.read(client.admin().orElseThrow(), LockNamePattern.of("*"));
    }

    @Test
    void printsOneLinePerChange() throws Exception {
        try (LockClient client = Locks.connect("memory:watch-changes");
                LockChangePrinter changes = new LockChangePrinter(new PrintWriter(out), new PrintWriter(err), false)) {
            assertThat(changes.show(held(client))).isTrue();
            Lease a = client.named("a\u001b").acquire();
            changes.show(held(client));
            changes.show(held(client));
            CompletableFuture<Lease> waiting = client.named("a\u001b").acquireAsync();
            Await.until("the waiter is queued", TIMEOUT, () -> {
                LockStatus status = client.named("a\u001b").status().join();
                return status.waiters().size() == 1;
            });
            changes.show(held(client));
            a.release();
            Lease b = waiting.get(10, TimeUnit.SECONDS);
            changes.show(held(client));
            b.release();
            changes.show(held(client));
            changes.show(held(client));
            List<String> lines = out.toString().lines().toList();
            assertThat(lines).hasSize(4).allMatch(line -> line.contains("a\\u001b") && !line.contains("\u001b"));
            assertThat(lines.get(0)).contains("  held     ", "token " + a.fencingToken() + "  waiters 0");
            assertThat(lines.get(1)).contains("  waiters  ", "token " + a.fencingToken() + "  waiters 1");
            assertThat(lines.get(2)).contains("  held     ", "token " + b.fencingToken() + "  waiters 0");
            assertThat(lines.get(3)).contains("  free     ");
            assertThat(err.toString()).isEmpty();
        }
    }

    @Test
    void anOutageAndItsEndAreReportedOnce() {
        try (LockChangePrinter changes = new LockChangePrinter(new PrintWriter(out), new PrintWriter(err), false)) {
            assertThat(changes.showUnavailable("not\u001breachable")).isTrue();
            changes.showUnavailable("not reachable");
            changes.show(new TreeMap<>());
            changes.showUnavailable("unreachable again");
            assertThat(err.toString().lines())
                    .containsExactly(
                            "lockctl: not\\u001breachable; still trying",
                            "lockctl: the store is reachable again",
                            "lockctl: unreachable again; still trying");
        }
    }

    @Test
    void endsWhenThePipeIsClosed() {
        PrintWriter closed = new PrintWriter(Writer.nullWriter()) {
            @Override
            public boolean checkError() {
                return true;
            }
        };
        try (LockChangePrinter changes = new LockChangePrinter(closed, new PrintWriter(err), true)) {
            assertThat(changes.show(new TreeMap<>())).isFalse();
        }
    }

    @Test
    void jsonHasOneObjectPerLine() throws Exception {
        try (LockClient client = Locks.connect("memory:watch-json")) {
            Lease x = client.named("x").acquire();
            client.named("other").acquire();
            CommandLineRun watch = CommandLineRun.of(
                    "watch", "x", "--json", "--count", "3", "--interval", "50ms", "--url", "memory:watch-json");
            assertThat(watch.code()).isZero();
            assertThat(watch.lines()).hasSize(1);
            assertThat(watch.at("change")).isEqualTo("held");
            assertThat(watch.number("holders", 0, "token")).isEqualTo(x.fencingToken());
        }
    }

    @Test
    void anIntervalThatIsTooShortHasExitCode64() {
        CommandLineRun watch = CommandLineRun.of("watch", "--interval", "1ms", "--url", "memory:watch");
        assertThat(watch.code()).isEqualTo(64);
        assertThat(watch.err()).contains("--interval must be 50ms or more");
    }

    @Test
    @Tag("once")
    void watchReportsAnOutageAndContinuesAfterIt() throws Exception {
        try (RedisTestServer server = RedisTestServer.start();
                LockClient client = Locks.connect(server.url())) {
            Thread watch = new Thread(
                    () -> CommandLineRun.into(out, err, "watch", "--interval", "100ms", "--url", server.url()));
            watch.start();
            client.named("before").acquire();
            Await.until("the first lock is shown", TIMEOUT, () -> out.toString().contains("before"));
            server.kill();
            Await.until("the outage is reported", TIMEOUT, () -> err.toString().contains("still trying"));
            server.restart();
            client.named("after").acquire();
            Await.until(
                    "the second lock is shown", TIMEOUT, () -> out.toString().contains("after"));
            assertThat(err.toString()).contains("the store is reachable again");
            watch.interrupt();
            watch.join(10_000);
            assertThat(watch.isAlive()).isFalse();
        }
    }
}
