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

/** lockctl as a person or cron runs it: a process of its own, whose output goes to files. */
public final class LockctlProcess implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(30);

    /** On a machine that does many things at once, the first connection of a JVM takes its time. */
    static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(60));

    /** Tests that run in the background of a script have INT ignored, as after nohup HUP, and so would lockctl. */
    private static final List<String> DEFAULT_SIGNALS = defaultSignals();

    private final Process process;
    private final Path out;
    private final Path err;

    private LockctlProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** That command with no signal ignored, whatever this process ignores: {@code nohup} and scripts ignore some in the background. */
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

    /** What it said and ended with. */
    record Ended(int code, String out, String err) {}

    /** {@code lockctl run} on that store. */
    static LockctlProcess run(Path dir, String url, String... arguments) {
        List<String> all = new ArrayList<>(List.of("run", "--url", url));
        all.addAll(List.of(arguments));
        return start(dir, all.toArray(String[]::new));
    }

    static LockctlProcess start(Path dir, String... arguments) {
        return start(dir, Map.of(), command(arguments));
    }

    /** @param command anything that runs lockctl, or is run beside it */
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

    /** With these a shell runs lockctl by {@code $LOCKCTL arguments}. */
    static Map<String, String> forShells() {
        return Map.of("CLASSPATH", System.getProperty("java.class.path"), "LOCKCTL", String.join(" ", java()));
    }

    private static List<String> java() {
        List<String> java = new ArrayList<>();
        java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        if (Runtime.version().feature() >= 24) {
            java.add("--enable-native-access=ALL-UNNAMED"); // as the manifest of lockctl.jar says
        }
        java.add(LockCtl.class.getName());
        return java;
    }

    long pid() {
        return process.pid();
    }

    /** Writes that to its standard input, and ends the input. */
    LockctlProcess input(String text) {
        try (var stdin = process.getOutputStream()) {
            stdin.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return this;
    }

    /** Waits until standard output has that. */
    LockctlProcess awaitOutput(String text) {
        awaitIn(out, text);
        return this;
    }

    LockctlProcess awaitError(String text) {
        awaitIn(err, text);
        return this;
    }

    private void awaitIn(Path file, String text) {
        boolean there = Await.holdsWithin(SOON, () -> read(file).contains(text));
        if (!there) {
            throw new AssertionError("no \"" + text + "\" but: " + read(out) + read(err));
        }
    }

    String out() {
        return read(out);
    }

    /** @param signal such as TERM */
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

    Ended end() {
        try {
            if (!process.waitFor(SOON.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("still runs: " + read(out) + read(err));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Ended(process.exitValue(), read(out), read(err));
    }

    /** Whether a process that its number stands for still runs; one that only waits to be buried does not. */
    static boolean runs(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
            return !stat.substring(stat.lastIndexOf(')') + 2).startsWith("Z");
        } catch (IOException e) {
            return false;
        }
    }

    /** Of all of them. */
    static void awaitDeath(List<Long> pids) {
        Await.until("all are dead", SOON, () -> pids.stream().noneMatch(LockctlProcess::runs));
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
        // Not destroyForcibly() alone: a stopped one has to hear it as well, and SIGKILL reaches it.
        process.destroyForcibly();
    }
}
