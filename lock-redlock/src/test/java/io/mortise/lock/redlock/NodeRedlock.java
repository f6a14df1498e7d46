// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs the npm package {@code redlock} in a separate Node.js process, which ends when its input is closed. */
final class NodeRedlock implements AutoCloseable {
    private static final Path SOURCE = Path.of("src/test/node");
    private static final Path HOME = Path.of("target/node");
    private static final Path LOG = HOME.resolve("node.log");

    /** Generous limit for small packages, since a registry may be slow. */
    private static final long INSTALL_LIMIT_SECONDS = 120;

    private final Process process;
    private final BufferedReader replies;
    private final Writer commands;

    private NodeRedlock(Process process) {
        this.process = process;
        this.replies = process.inputReader();
        this.commands = process.outputWriter();
    }

    /** Installs the packages of the lock file once, preferably from npm's cache. */
    static void install() throws IOException, InterruptedException {
        String required = Files.readString(SOURCE.resolve("package-lock.json"));
        Path installed = HOME.resolve("installed");
        if (Files.exists(installed) && Files.readString(installed).equals(required)) {
            return;
        }
        Files.createDirectories(HOME);
        for (String name : List.of("package.json", "package-lock.json")) {
            Files.writeString(HOME.resolve(name), Files.readString(SOURCE.resolve(name)));
        }
        Path log = HOME.resolve("npm.log");
        Process npm = new ProcessBuilder("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
                .directory(HOME.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = npm.waitFor(INSTALL_LIMIT_SECONDS, TimeUnit.SECONDS);
        npm.descendants().forEach(ProcessHandle::destroyForcibly);
        npm.destroyForcibly();
        assertThat(ended && npm.exitValue() == 0)
                .as("npm ci, which installs node-redlock: " + Files.readString(log))
                .isTrue();
        Files.writeString(installed, required);
    }

    /** Starts version 4 or 5 with one Redis client for each of these ports. */
    static NodeRedlock start(int version, List<Integer> ports) throws IOException {
        List<String> command = new ArrayList<>(
                List.of("node", SOURCE.resolve("redlock.js").toAbsolutePath().toString(), String.valueOf(version)));
        ports.forEach(port -> command.add(port.toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(LOG.toFile());
        builder.environment()
                .put("NODE_PATH", HOME.resolve("node_modules").toAbsolutePath().toString());
        return new NodeRedlock(builder.start());
    }

    /** Tries once to acquire the lock with that key. */
    boolean lock(String key, long millis) throws IOException {
        return send("lock " + key + " " + millis);
    }

    boolean extend(long millis) throws IOException {
        return send("extend " + millis);
    }

    boolean unlock() throws IOException {
        return send("unlock");
    }

    private boolean send(String command) throws IOException {
        commands.write(command + "\n");
        commands.flush();
        String reply = replies.readLine();
        assertThat(reply).as(Files.readString(LOG)).isIn("yes", "no");
        return "yes".equals(reply);
    }

    /** Kills the process like {@code kill -9}. */
    @Override
    public void close() {
        process.destroyForcibly();
    }
}
