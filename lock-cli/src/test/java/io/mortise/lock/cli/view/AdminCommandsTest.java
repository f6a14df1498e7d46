// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.LossReason;
import io.mortise.lock.cli.CommandLineRun;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.Await;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@code who}, {@code list} and {@code release --force}, on the in-memory store. */
class AdminCommandsTest {
    private static int next;

    private final String url = "memory:admin-" + next++;
    private final LockClient client = Locks.connect(url);

    @AfterEach
    void close() {
        client.close();
    }

    private CommandLineRun run(String... args) {
        String[] line = new String[args.length + 2];
        System.arraycopy(args, 0, line, 0, args.length);
        line[args.length] = "--url";
        line[args.length + 1] = url;
        return CommandLineRun.of(line);
    }

    private void awaitWaiters(String name, int count) throws Exception {
        Await.until(
                "all waiters are queued",
                Duration.ofSeconds(10),
                () -> client.named(name).status().join().waiters().size() == count);
    }

    @Test
    void whoShowsTheHolderAndTheWaiters() throws Exception {
        LockOptions withMetadata = LockOptions.defaults().metadata(Map.of("job", "nightly"));
        try (Lease lease = client.named("inventory/42", withMetadata).acquire()) {
            CompletableFuture<Lease> waiting = client.named("inventory/42").acquireAsync();
            awaitWaiters("inventory/42", 1);

            CommandLineRun who = run("who", "inventory/42");

            assertThat(who.err()).isEmpty();
            assertThat(who.code()).isZero();
            assertThat(who.lines().get(0)).isEqualTo("inventory/42 is held by");
            assertThat(who.lines())
                    .contains(
                            "  owner     " + lease.ownerId(),
                            "  pid       " + ProcessHandle.current().pid(),
                            "  token     " + lease.fencingToken(),
                            "  job       nightly",
                            "waiting, in queue order");
            assertThat(who.lines()).hasSize(10);
            waiting.cancel(true);
        }
    }

    @Test
    void whoExitsWith1ForAFreeLock() throws Exception {
        CommandLineRun who = run("who", "never used");
        assertThat(who.code()).isEqualTo(1);
        assertThat(who.out()).isEqualTo("never used is free" + System.lineSeparator());
        assertThat(run("who", "never used", "--json").json())
                .isEqualTo(Map.of("name", "never used", "held", false, "holders", List.of(), "waiters", List.of()));
    }

    @Test
    void whoPrintsJsonWithNumbersAndBooleans() throws Exception {
        try (Lease lease = client.named("x").acquire()) {
            CommandLineRun who = run("--json", "who", "x");
            assertThat(who.at("held")).isEqualTo(true);
            assertThat(who.number("holders", 0, "token")).isEqualTo(lease.fencingToken());
            assertThat(who.number("holders", 0, "pid"))
                    .isEqualTo(ProcessHandle.current().pid());
            assertThat(who.at("holders", 0, "owner")).isEqualTo(lease.ownerId());
            assertThat(who.at("holders", 0, "foreign")).isEqualTo(false);
            assertThat(Instant.parse((String) who.at("holders", 0, "since")))
                    .isBefore(Instant.now().plusSeconds(1));
        }
    }

    @Test
    void listShowsMatchingLocksSortedByName() throws Exception {
        for (String name : List.of("b/2", "a/1", "b/1", "c")) {
            client.named(name).acquire();
        }
        CommandLineRun all = run("list");
        assertThat(all.code()).isZero();
        assertThat(all.lines()).hasSize(5);
        assertThat(all.lines().get(0)).matches("NAME  HOLDER    HOST +PID +SINCE +TOKEN +WAITERS");
        assertThat(all.lines())
                .extracting(line -> line.substring(0, line.indexOf(' ')))
                .containsExactly("NAME", "a/1", "b/1", "b/2", "c");
        assertThat(run("list", "b/*").lines()).hasSize(3);
        assertThat(run("list", "?/1").lines()).hasSize(3);
        assertThat(run("list", "b").out()).isEmpty();
        assertThat(run("list", "b").err()).contains("no lock is held whose name matches b");
        assertThat(run("list", "b").code()).isZero();
        CommandLineRun json = run("list", "b/*", "--json");
        assertThat((List<?>) json.at("locks")).hasSize(2);
        assertThat(json.at("locks", 0, "name")).isEqualTo("b/1");
        assertThat(json.at("locks", 1, "name")).isEqualTo("b/2");
    }

    @Test
    void listReadsAllPages() throws Exception {
        for (int i = 0; i < 1_203; i++) {
            client.named("n" + i).acquire();
        }
        assertThat(run("list").lines()).hasSize(1_204);
    }

    @Test
    void S19_textFromTheStoreIsEscapedForTheTerminal() throws Exception {
        String name = "evil\u001b[2J\nname\u202e";
        LockOptions evil =
                LockOptions.defaults().metadata(Map.of("k\u001b[31m", "v\r\u0007", "owner", "somebody else"));
        Lease lease = client.named(name, evil).acquire();
        for (String[] line : List.of(
                new String[] {"who", name},
                new String[] {"list"},
                new String[] {"who", name, "--json"},
                new String[] {"list", "--json"},
                new String[] {"release", name, "--force", "--token", "0", "-y"},
                new String[] {"release", name, "--force", "-y"})) {
            CommandLineRun shown = run(line);
            assertThat(shown.out() + shown.err()).doesNotContain("\u001b", "\u202e", "\r", "\u0007", "\nname");
            assertThat(shown.out() + shown.err()).contains("evil");
        }
        assertThat(lease.isHeld()).isFalse();
    }

    @Test
    void S19_metadataCannotImpersonateTheOwner() throws Exception {
        LockOptions evil = LockOptions.defaults().metadata(Map.of("owner", "forged owner", "token", "forged token"));
        try (Lease lease = client.named("x", evil).acquire()) {
            assertThat(run("who", "x").out())
                    .contains("owner     " + lease.ownerId())
                    .doesNotContain("forged");
        }
    }

    @Test
    void releaseTakesTheLockOnlyFromTheSelectedHolder() throws Exception {
        Lease lease = client.named("x").acquire();
        String token = Long.toString(lease.fencingToken());

        CommandLineRun other = run("release", "--force", "x", "--token", token + "0", "-y");
        assertThat(other.code()).isEqualTo(1);
        assertThat(other.err()).contains("x is held by", "token " + token, "nothing was released");
        assertThat(run("release", "--force", "x", "--owner", "0123456789", "-y").code())
                .isEqualTo(1);
        assertThat(lease.isHeld()).isTrue();

        CommandLineRun done = run(
                "release",
                "--force",
                "x",
                "--token",
                token,
                "--owner",
                lease.ownerId().substring(0, 8),
                "-y");
        assertThat(done.err()).isEmpty();
        assertThat(done.code()).isZero();
        assertThat(done.out()).contains("x was taken from " + lease.ownerId().substring(0, 8) + ", token " + token);
        assertThat(lease.lost().get(5, TimeUnit.SECONDS).kind()).isEqualTo(LossReason.Kind.REMOVED);

        CommandLineRun again = run("release", "--force", "x", "-y");
        assertThat(again.code()).isEqualTo(1);
        assertThat(again.err()).contains("x is free");
    }

    @Test
    void releasePrintsJson() throws Exception {
        Lease lease = client.named("x").acquire();
        CommandLineRun done = run("release", "--force", "x", "-y", "--json");
        assertThat(done.at("released")).isEqualTo(true);
        assertThat(done.at("name")).isEqualTo("x");
        assertThat(done.at("holder", "owner")).isEqualTo(lease.ownerId());
    }

    @Test
    void withoutATerminalReleaseNeedsYesAndChangesNothing() throws Exception {
        Lease lease = client.named("x").acquire();
        CommandLineRun refused = run("release", "--force", "x");
        assertThat(refused.code()).isEqualTo(64);
        assertThat(refused.err()).contains("there is no terminal to ask for confirmation", "-y");
        CommandLineRun unforced = run("release", "x", "-y");
        assertThat(unforced.code()).isEqualTo(64);
        assertThat(unforced.err()).contains("--force");
        assertThat(run("release", "--force", "x", "-y", "--owner", "abc").code())
                .isEqualTo(64);
        assertThat(lease.isHeld()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"y\n", "Yes\n", "n\n", "\n", "", "yo\n"})
    void onATerminalReleaseShowsTheHolderAndAsksForConfirmation(String answer) throws Exception {
        Lease lease = client.named("x").acquire();
        InputStream in = System.in;
        CommandLineRun run;
        try {
            System.setProperty("lockctl.terminal.in", "true");
            System.setProperty("lockctl.terminal.err", "true");
            System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
            run = run("release", "--force", "x");
        } finally {
            System.setIn(in);
            System.clearProperty("lockctl.terminal.in");
            System.clearProperty("lockctl.terminal.err");
        }
        boolean confirmed = answer.toLowerCase(Locale.ROOT).matches("y(es)?\n");
        assertThat(run.err()).contains("owner     " + lease.ownerId(), "[y/N]");
        assertThat(run.code()).isEqualTo(confirmed ? 0 : 1);
        assertThat(client.named("x").status().join().holders().isEmpty()).isEqualTo(confirmed);
    }

    @Test
    void anInvalidCommandLineIsReportedInOneLineWithExitCode64() throws Exception {
        for (String[] line : List.of(
                new String[] {"who"},
                new String[] {"who", ""},
                new String[] {"who", "x".repeat(513)},
                new String[] {"release", "--force"},
                new String[] {"release", "--force", "x", "--token", "abc"})) {
            CommandLineRun wrong = run(line);
            assertThat(wrong.code()).as(String.join(" ", line)).isEqualTo(64);
            assertThat(wrong.err().lines()).hasSize(1);
        }
    }

    @Test
    void helpContainsExamples() throws Exception {
        for (String command : List.of("who", "list", "release")) {
            assertThat(CommandLineRun.of(command, "--help").out()).contains("Examples:", "lockctl " + command);
        }
    }
}
