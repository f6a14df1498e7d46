// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import static io.mortise.lock.cli.run.LockctlProcess.command;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.cli.run.LockctlProcess.Ended;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.spi.LockName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Tests of {@code lockctl run} as a separate process, on a file store. */
@Tag("once")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads /proc")
@Execution(ExecutionMode.CONCURRENT)
class RunCommandTest {
    private static final Pattern NUMBER = Pattern.compile("\\d+");

    @TempDir
    Path dir = Path.of("");

    private String url = "";

    @BeforeEach
    void createStore() throws Exception {
        url = "file-test:" + Files.createDirectory(dir.resolve("store"));
    }

    private LockctlProcess run(String... arguments) {
        return LockctlProcess.run(dir, url, arguments);
    }

    private static Ended ended(LockctlProcess process) {
        try (process) {
            return process.end();
        }
    }

    /** A JVM that is started without standard input opens its own class file image as descriptor 0. */
    @Test
    void withoutStandardInputTheCommandGetsAnEmptyOne() {
        List<String> closed = new ArrayList<>(List.of("sh", "-c", "exec \"$@\" <&-", "sh"));
        closed.addAll(command("run", "--url", url, "x", "--", "sh", "-c", "readlink /proc/$$/fd/0; wc -c"));
        assertThat(ended(LockctlProcess.start(dir, Map.of(), closed)).out()).isEqualTo("/dev/null\n0\n");
    }

    @Test
    void theCommandInheritsTheStandardStreamsAndItsExitCodeIsReturned() {
        Ended ended = ended(run(
                        "stock/7",
                        "--",
                        "sh",
                        "-c",
                        """
                        cat; echo problem >&2
                        printf '<%s>' "$@"; echo
                        echo "name=$LOCK_NAME token=$LOCK_FENCING_TOKEN owner=$LOCK_OWNER deadline=$LOCK_DEADLINE_MILLIS"
                        echo "leader=$(($(cut -d' ' -f5 /proc/$$/stat) - $$))"
                        n=3; while [ $n -lt 256 ]; do [ ! -e /proc/$$/fd/$n ] || echo "open: $n"; n=$((n + 1)); done
                        grep -E '^Sig(Blk|Ign)' /proc/self/status
                        exit 7""",
                        "name of the shell",
                        "two words",
                        "",
                        "-n",
                        "--json",
                        "--",
                        "@" + dir.resolve("store"))
                .input("typed\n"));

        assertThat(ended.code()).as(ended.err()).isEqualTo(7);
        assertThat(ended.err()).isEqualTo("problem\n");
        List<String> lines = ended.out().lines().toList();
        assertThat(lines.get(0)).isEqualTo("typed");
        assertThat(lines.get(1)).isEqualTo("<two words><><-n><--json><--><@" + dir.resolve("store") + ">");
        assertThat(lines.get(2)).matches("name=stock/7 token=1 owner=[0-9a-f]{32} deadline=\\d+");
        long deadline = Long.parseLong(lines.get(2).replaceAll(".*=", ""));
        assertThat(Instant.ofEpochMilli(deadline))
                .isBetween(Instant.now(), Instant.now().plusSeconds(30));
        assertThat(lines.get(3)).as("leads its process group").isEqualTo("leader=0");
        assertThat(lines.get(4))
                .as("no other file of lockctl is open, and no signal is blocked")
                .matches("SigBlk:\\s0+");
        long ignored = Long.parseUnsignedLong(lines.get(5).replaceAll(".*\\s", ""), 16);
        for (String name : List.of("TTOU", "TSTP", "PIPE", "CONT")) {
            assertThat(ignored >> (SignalHandlerInstaller.number(name) - 1) & 1)
                    .as(name)
                    .isZero();
        }
    }

    @Test
    void S13_textThatTheLocaleCannotRepresentIsPassedUnchanged() {
        List<String> command =
                command("run", "-u", url, "größe", "--", "sh", "-c", "echo $LOCK_NAME $GREETING $1", "sh", "Zoë");
        Path script = dir.resolve("as-cron");
        write(script, "LC_ALL=C GREETING='Grüße' " + quoted(command) + "\n");
        Ended ended = ended(LockctlProcess.start(dir, Map.of(), List.of("sh", script.toString())));

        assertThat(ended.out()).as(ended.err()).isEqualTo("größe Grüße Zoë\n");
        assertThat(dir.resolve("store").resolve(new LockName("größe").escaped()))
                .as("the lock's file")
                .exists();
    }

    @Test
    void aCommandKilledByASignalHasExitCode128PlusTheSignal() {
        assertThat(ended(run("x", "--", "sh", "-c", "kill -USR1 $$")).code()).isEqualTo(138);
    }

    /** The command deletes its lock, which lockctl notices when it releases the lock: with any exit code, it reports that. */
    @Test
    void theExitCode75OfTheCommandIsNotTakenForALoss() {
        Ended ended = ended(run("x", "--", "sh", "-c", "printf '9\\n0\\n' >store/x; exit 75"));

        assertThat(ended).isEqualTo(new Ended(75, "", "lockctl: lock \"x\" was lost before it could be released\n"));
    }

    @Test
    void aMissingCommandHasExitCode127AndTheLockIsReleased() {
        Ended ended = ended(run("x", "--", "no-such-command", "argument"));

        assertThat(ended.code()).isEqualTo(127);
        assertThat(ended.err()).isEqualTo("lockctl: cannot run \"no-such-command\": No such file or directory\n");
        assertFree("x");
    }

    @Test
    void aFileThatIsNotExecutableHasExitCode126AndAScriptWithoutInterpreterLineIsRunByTheShell() {
        Path script = dir.resolve("script");
        write(script, "echo ran $1\n");
        assertThat(ended(run("x", "--", script.toString())).code()).isEqualTo(126);

        assertThat(script.toFile().setExecutable(true)).isTrue();
        assertThat(ended(run("x", "--", script.toString(), "well")).out()).isEqualTo("ran well\n");
    }

    @Test
    void aBusyLockHasExitCode1OrTheChosenOne() throws Exception {
        try (LockClient client = Locks.connect(url);
                Lease held = client.named("x").acquire()) {
            Ended atOnce = ended(run("-n", "x", "--", "echo", "ran"));
            Ended later = ended(run("x", "-w", "3s", "-E", "9", "--", "echo", "ran"));

            assertThat(atOnce).isEqualTo(new Ended(1, "", ""));
            assertThat(later).isEqualTo(new Ended(9, "", "lockctl: lock \"x\" is still busy after 3s\n"));
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void nestedRunsSetTheVariablesOfTheInnerLock() {
        Ended ended = ended(run(
                "outer",
                "--",
                "sh",
                "-c",
                "echo $LOCK_NAME; $LOCKCTL run -u $0 inner -- sh -c 'echo $LOCK_NAME; exit 3'; echo $? $LOCK_NAME",
                url));

        assertThat(ended.out()).as(ended.err()).isEqualTo("outer\ninner\n3 outer\n");
    }

    @Test
    void S19_theCommandDoesNotGetTheUrlUnlessKeepUrlIsGiven() {
        Map<String, String> environment = Map.of("MORTISE_URL", url);
        Ended without = ended(LockctlProcess.start(
                dir,
                environment,
                command("run", "x", "--", "sh", "-c", "echo \"<$MORTISE_URL>\"; $LOCKCTL run y -- true")));
        assertThat(without.out()).isEqualTo("<>\n");
        assertThat(without.err()).contains("set MORTISE_URL (lockctl run passes it on only with --keep-url)");

        Ended with = ended(LockctlProcess.start(
                dir, environment, command("run", "--keep-url", "x", "--", "sh", "-c", "$LOCKCTL run y -- echo inner")));
        assertThat(with).isEqualTo(new Ended(0, "inner\n", ""));
    }

    /** The first process of a container adopts all orphaned processes. */
    @Test
    void adoptedProcessesAreReaped() {
        List<String> first = new ArrayList<>(List.of("unshare", "--fork", "--pid", "--mount-proc"));
        assumeThat(ended(LockctlProcess.start(dir, Map.of(), with(first, List.of("true"))))
                        .code())
                .as("process namespaces are available")
                .isZero();
        String script = """
                sh -c 'sh -c "echo \\$\\$ >orphan; exec sleep 0.1" & sleep 0.01'
                for round in $(seq 300); do
                    if [ -s orphan ] && [ ! -e /proc/$(cat orphan) ]; then echo reaped; exit; fi
                    sleep 0.1
                done
                cat /proc/$(cat orphan)/stat""";
        Ended ended = ended(LockctlProcess.start(
                dir, Map.of(), with(first, command("run", "-u", url, "x", "--", "sh", "-c", script))));
        assertThat(ended.code()).as(ended.err()).isZero();
        assertThat(ended.out()).endsWith("reaped\n"); // before that, the JVM may warn about process id 1
    }

    private static List<String> with(List<String> first, List<String> command) {
        List<String> all = new ArrayList<>(first);
        all.addAll(command);
        return all;
    }

    @Test
    void signalsAreForwardedAndTheCommandDecidesHowToReact() {
        try (LockctlProcess run = run("x", "--", "sh", "-c", """
                trap 'echo got INT' INT; trap 'echo got HUP' HUP; trap 'echo got TERM; exit 5' TERM
                echo ready; while :; do sleep 0.05; done""")) {
            run.awaitOutput("ready")
                    .signal("INT")
                    .awaitOutput("got INT")
                    .signal("HUP")
                    .awaitOutput("got HUP");
            run.signal("TERM");

            Ended ended = run.end(); // on standard error the shell may report its sleep, which got the signals too
            assertThat(ended.code()).isEqualTo(5);
            assertThat(ended.out()).isEqualTo("ready\ngot INT\ngot HUP\ngot TERM\n");
            assertFree("x");
        }
    }

    @Test
    void worksWithoutATerminalAndInAPipe() {
        Ended ended = ended(LockctlProcess.start(dir, Map.of("URL", url), List.of("setsid", "-w", "sh", "-c", """
                        $LOCKCTL run -u $URL x -- echo alone </dev/null
                        echo typed | $LOCKCTL run -u $URL x -- cat | tr a-z A-Z
                        { $LOCKCTL run -u $URL x -- yes; echo code=$? >code; } | head -1""")));

        assertThat(ended).isEqualTo(new Ended(0, "alone\nTYPED\ny\n", ""));
        assertThat(LockctlProcess.read(dir.resolve("code"))).as("128 + PIPE").isEqualTo("code=141\n");
    }

    @Test
    void ctrlCEndsLockctlWhileItConnects() throws Exception {
        try (ServerSocket unresponsive = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LockctlProcess run = LockctlProcess.start(
                        dir,
                        "run",
                        "-u",
                        "redis://127.0.0.1:" + unresponsive.getLocalPort(),
                        "x",
                        "--",
                        "echo",
                        "ran");
                Socket connection = unresponsive.accept()) {
            assertThat(connection.getInputStream().read())
                    .as("lockctl has sent a request and waits for the reply")
                    .isPositive();
            long begin = System.nanoTime();
            run.signal("INT");

            assertThat(run.end()).isEqualTo(new Ended(130, "", ""));
            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(Duration.ofSeconds(8)); // the connect timeout is 10 s
        }
    }

    @Test
    void holdDoesNotLoadNativeFunctionsOfRun() {
        Ended hold = ended(LockctlProcess.start(
                dir,
                Map.of("JDK_JAVA_OPTIONS", "-Xlog:class+load:file=classes"),
                command("hold", "-n", "-u", "file-test:/no/such/folder", "x")));

        assertThat(hold.code()).isEqualTo(69);
        assertThat(LockctlProcess.read(dir.resolve("classes")))
                .contains("cli.run.HoldCommand")
                .doesNotContain("cli.run.Libc", "cli.run.PosixSpawn"); // ProcessExit may need JNA itself
    }

    static List<Long> pids(String out) {
        String line = out.lines()
                .filter(text -> text.matches("pids [0-9 ]+here\\s*"))
                .findFirst()
                .orElseThrow();
        return NUMBER.matcher(line)
                .results()
                .map(found -> Long.valueOf(found.group()))
                .toList();
    }

    private void assertFree(String name) {
        try (LockClient client = Locks.connect(url)) {
            assertThat(client.named(name).tryAcquire()).isPresent();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static String quoted(List<String> command) {
        return command.stream().map(word -> "'" + word + "'").reduce("", (a, b) -> a + " " + b);
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
