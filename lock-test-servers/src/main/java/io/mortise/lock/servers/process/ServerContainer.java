// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import com.github.dockerjava.api.exception.DockerException;
import io.mortise.lock.testkit.process.Await;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * A server in a container that can be paused, killed and restarted on the same ports. Needs Testcontainers on the class path.
 * Thread-safe.
 */
public final class ServerContainer implements ServerNode {
    /** Path of the server's directory in the container. */
    static final Path DIRECTORY = Path.of("/mortise");

    private static final Duration START_LIMIT = Duration.ofSeconds(30);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final int LAST_LINES = 20;

    private final String image;
    private final GenericContainer<?> container;
    private final boolean keepsData;
    private final BooleanSupplier serves;

    /**
     * Starts the container; returns when the server serves.
     *
     * @param files directory that is copied into the container, as {@link ServerSource#directory}
     * @param command command line, whose program must be in the image
     * @param ports ports that the server listens on, which become the same ports of 127.0.0.1
     * @param keepsData whether a restart keeps the files that the server has written
     * @param serves returns whether the server serves
     * @throws IllegalStateException if the server ends before; the message contains its last lines
     */
    public ServerContainer(
            ServerSource.Image image,
            Path files,
            List<String> command,
            List<Integer> ports,
            boolean keepsData,
            BooleanSupplier serves) {
        this.image = image.name();
        this.keepsData = keepsData;
        this.serves = serves;
        // The image's own entry point may give up root, and then not read the copied files.
        this.container = new GenericContainer<>(DockerImageName.parse(image.name()))
                .withCreateContainerCmdModifier(create -> create.withEntrypoint(command.get(0)))
                .withCommand(command.stream().skip(1).toArray(String[]::new))
                .withCopyFileToContainer(MountableFile.forHostPath(files), DIRECTORY.toString())
                .withStartupCheckStrategy(new NoStartupCheck())
                .waitingFor(new NoWait());
        // A random port, as Testcontainers chooses it, would change with each restart.
        container.setPortBindings(
                ports.stream().map(port -> "127.0.0.1:" + port + ":" + port).toList());
        start();
    }

    /** Returns why no container can be started on this machine; empty if Docker or Podman responds. */
    public static Optional<String> problem() {
        DockerClientFactory docker = DockerClientFactory.instance();
        if (!docker.isDockerAvailable()) {
            return Optional.of("start Docker, or Podman's service with DOCKER_HOST");
        }
        String host = docker.dockerHostIpAddress();
        try {
            return InetAddress.getByName(host).isLoopbackAddress()
                    ? Optional.empty()
                    : Optional.of("Docker must run on this machine, not on " + host);
        } catch (UnknownHostException e) {
            return Optional.of("Docker must run on this machine, not on the unknown host " + host);
        }
    }

    private void start() {
        try {
            container.start();
        } catch (RuntimeException e) {
            throw new IllegalStateException("No container of " + image + " could be started: " + causes(e), e);
        }
        try {
            awaitServing();
        } catch (RuntimeException e) {
            container.stop();
            throw e;
        }
    }

    /** Returns the messages of a failure, since Docker's own one is the last. */
    private static String causes(Throwable failure) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            text.append(text.isEmpty() ? "" : "; ").append(cause.getMessage());
        }
        // The words of the other engines, and of the servers.
        return text.toString().replace("port is already allocated", "port is already in use");
    }

    private void awaitServing() {
        Await.until("the server in " + image + " serves", START_LIMIT, () -> {
            requireAlive();
            return serves.getAsBoolean();
        });
    }

    @Override
    public long pid() {
        throw new UnsupportedOperationException("The server runs in a container");
    }

    @Override
    public synchronized boolean isAlive() {
        return state().filter(state -> isTrue(state.getRunning()) || isTrue(state.getPaused()))
                .isPresent();
    }

    @Override
    public synchronized boolean isPaused() {
        return state().filter(state -> isTrue(state.getPaused())).isPresent();
    }

    private static boolean isTrue(Boolean value) {
        return Boolean.TRUE.equals(value);
    }

    private Optional<ContainerState> state() {
        return Optional.ofNullable(container.getContainerId())
                .map(id -> docker().inspectContainerCmd(id).exec().getState());
    }

    @Override
    public synchronized void requireAlive() {
        if (!isAlive()) {
            throw new IllegalStateException("The server in " + image + " has ended: " + lastLines());
        }
    }

    @Override
    public synchronized String lastLines() {
        if (container.getContainerId() == null) {
            return "";
        }
        List<String> lines = container.getLogs().lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
    }

    @Override
    public synchronized void pause() {
        if (!isPaused()) {
            try {
                docker().pauseContainerCmd(container.getContainerId()).exec();
            } catch (DockerException e) {
                throw new UnsupportedOperationException("Containers cannot be paused here: " + e.getMessage(), e);
            }
        }
    }

    @Override
    public synchronized void resume() {
        if (isPaused()) {
            docker().unpauseContainerCmd(container.getContainerId()).exec();
        }
    }

    @Override
    public synchronized void stop() {
        resume();
        if (isAlive()) {
            int seconds = Math.toIntExact(STOP_LIMIT.toSeconds());
            docker().stopContainerCmd(container.getContainerId())
                    .withTimeout(seconds)
                    .exec();
        }
    }

    @Override
    public synchronized void kill() {
        resume(); // not every engine kills paused containers
        if (isAlive()) {
            docker().killContainerCmd(container.getContainerId()).exec();
            Await.until("the container has ended", STOP_LIMIT, () -> !isAlive());
        }
    }

    @Override
    public synchronized void restart() {
        kill();
        if (keepsData) {
            docker().startContainerCmd(container.getContainerId()).exec();
            awaitServing();
        } else {
            container.stop(); // deletes it, with its files
            start();
        }
    }

    @Override
    public synchronized void close() {
        resume();
        container.stop();
    }

    private DockerClient docker() {
        return container.getDockerClient();
    }

    @Override
    public String toString() {
        return "image=" + image;
    }

    /** Accepts every container at once: {@link #awaitServing} waits, and reports the log of a server that has ended. */
    private static final class NoStartupCheck extends StartupCheckStrategy {
        @Override
        public StartupStatus checkStartupState(DockerClient docker, String containerId) {
            return StartupStatus.SUCCESSFUL;
        }
    }

    /** Does not wait, see {@link NoStartupCheck}. */
    private static final class NoWait extends AbstractWaitStrategy {
        @Override
        protected void waitUntilReady() {
            // nothing to do
        }
    }
}
