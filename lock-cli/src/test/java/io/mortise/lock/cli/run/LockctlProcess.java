// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.run;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.cli.LockCtl;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A lockctl process, started as by a user or cron, whose output goes to files. */
public final class LockctlProcess implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    /** Options for a busy machine, on which the first connection of a JVM may take long. */
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    /**
     * A prefix that resets all signals to their defaults: a background job of a script ignores INT, and one started by nohup
     * ignores HUP, which lockctl would inherit.
     */
    private static final List<String> DEFAULT_SIGNALS = defaultSignals();

    private final Process process;
    private final Path out;
    private final Path err;

    private LockctlProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Returns a command that runs the given one with no signal ignored, even if this process ignores some. */
    public static List<String> withDefaultSignals(List<String> command) {
        List<String> all = new ArrayList<>(DEFAULT_SIGNALS);
        all.addAll(command);
        return all;
    }

    private static List<String> defaultSignals() {
        List<String> prefix = List.of("env", "--default-signal");
        try {
            List<String> trial = List.of("env", "--default-signal", "true");
            return new ProcessBuilder(trial).start().waitFor() == 0 ? prefix : List.of();
        } catch (IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The exit code and the output of a process that has ended. */
    record Ended(int code, String out, String err) {}

    /** Starts {@code lockctl run} on the given store. */
    static LockctlProcess run(Path dir, String url, String... arguments) {
        List<String> all = new ArrayList<>(List.of("run", "--url", url));
        all.addAll(List.of(arguments));
        return start(dir, all.toArray(String[]::new));
    }

    static LockctlProcess start(Path dir, String... arguments) {
        return start(dir, Map.of(), command(arguments));
    }

    /** @param command any command that runs lockctl, or that runs beside it */
    static LockctlProcess start(Path dir, Map<String, String> environment, List<String> command) {
        try {
            Path out = Files.createTempFile(dir, "out", "");
            Path err = Files.createTempFile(dir, "err", "");
            ProcessBuilder builder = new ProcessBuilder(withDefaultSignals(command))
                    .directory(dir.toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().putAll(forShells());
            builder.environment().putAll(environment);
            return new LockctlProcess(builder.start(), out, err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(java());
        command.addAll(List.of(arguments));
        return command;
    }

    /** Returns the variables with which a shell runs lockctl by {@code $LOCKCTL arguments}. */
    static Map<String, String> forShells() {
        return Map.of("CLASSPATH", System.getProperty("java.class.path"), "LOCKCTL", String.join(" ", java()));
    }

    private static List<String> java() {
        List<String> java = new ArrayList<>();
        java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmn8m", "-Xshare:auto"));
        java.addAll(
                List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")); // as in the parent POM
        if (Runtime.version().feature() >= 24) {
            java.add("--enable-native-access=ALL-UNNAMED"); // as in the manifest of lockctl.jar
        }
        java.add(LockCtl.class.getName());
        return java;
    }

    long pid() {
        return process.pid();
    }

    /** Writes text to the standard input of the process, and closes it. */
    LockctlProcess input(String text) {
        try (var stdin = process.getOutputStream()) {
            stdin.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Waits until standard output contains the text. */
    LockctlProcess awaitOutput(String text) {
        awaitIn(out, text);
        return this;
    }

    /** Waits until standard error contains the text. */
    LockctlProcess awaitError(String text) {
        awaitIn(err, text);
        return this;
    }

    private void awaitIn(Path file, String text) {
        boolean found = Await.holdsWithin(TIMEOUT, () -> read(file).contains(text));
        if (!found) {
            String output = read(out) + read(err);
            throw new AssertionError("no \"" + text + "\" in the output: " + output + "\n" + threads());
        }
    }

    /** Returns the stacks of the threads of lockctl, which the JVM prints to standard output; empty if it has ended. */
    private String threads() {
        if (!process.isAlive()) {
            return "it ended with " + process.exitValue();
        }
        send("QUIT", pid());
        Await.holdsWithin(Duration.ofSeconds(5), () -> read(out).contains("JNI global refs"));
        return read(out);
    }

    String out() {
        return read(out);
    }

    /** @param signal the name of the signal, such as TERM */
    LockctlProcess signal(String signal) {
        send(signal, pid());
        return this;
    }

    static void send(String signal, long pid) {
        try {
            int code = new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (code != 0) {
                throw new AssertionError("kill " + pid + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits for the process to end. */
    Ended end() {
        try {
            if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still running: " + read(out) + read(err));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Ended(process.exitValue(), read(out), read(err));
    }

    /** Returns whether the process with the given id is still running; a zombie is not. */
    static boolean isRunning(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            return !stat.substring(stat.lastIndexOf(')') + 2).startsWith("Z");
        } catch (IOException e) {
            return false;
        }
    }

    /** Waits until none of the processes is running. */
    static void awaitEnd(List<Long> pids) {
        Await.until("all have ended", TIMEOUT, () -> pids.stream().noneMatch(LockctlProcess::isRunning));
    }

    static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        // SIGKILL, as it also ends a stopped process.
        process.destroyForcibly();
    }
}
