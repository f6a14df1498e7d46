// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import io.mortise.lock.testkit.TestSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/** The source of a test server: either a program that is installed on this machine, or a container image (ADR 0050). */
public sealed interface ServerSource {
    /** A program of this machine. */
    record Program(Path path) implements ServerSource {
        @Override
        public String listenAddress() {
            return "127.0.0.1";
        }

        @Override
        public Path directory(Path dir) {
            return dir;
        }
    }

    /** An image, for a container that publishes its ports on 127.0.0.1. */
    record Image(String name) implements ServerSource {
        @Override
        public String listenAddress() {
            return "0.0.0.0";
        }

        @Override
        public Path directory(Path dir) {
            return ServerContainer.DIRECTORY;
        }
    }

    /** Returns the address that the server listens on, so that only this machine can connect. */
    String listenAddress();

    /** Returns the path by which the server knows a directory of this machine. */
    Path directory(Path dir);

    /**
     * Chooses what starts Redis: {@link ServerBinary#redis()}, else the image of {@code mortise.test.redis.image}, which has a
     * default.
     *
     * @throws IllegalStateException if there is neither the program nor a container engine; the message names all ways
     */
    static ServerSource redis() {
        return choose("redis", "redis:8.2.2", ServerBinary::redis, ServerSource::containerProblem);
    }

    /** Chooses what starts etcd, as {@link #redis()} does for Redis. */
    static ServerSource etcd() {
        return choose("etcd", "quay.io/coreos/etcd:v3.6.5", ServerBinary::etcd, ServerSource::containerProblem);
    }

    /**
     * Chooses between a program and an image.
     *
     * @param program returns the program, or throws if there is none
     * @param containerProblem returns why no container can be started; called only without a program, as the answer takes time
     */
    static ServerSource choose(
            String store, String defaultImage, Supplier<Path> program, Supplier<Optional<String>> containerProblem) {
        try {
            return new Program(program.get());
        } catch (IllegalStateException noProgram) {
            if (TestSettings.get(store + ".binary").isPresent()) {
                throw noProgram; // a container would hide the misspelled name
            }
            String image = TestSettings.get(store + ".image").orElse(defaultImage);
            Optional<String> problem = containerProblem.get();
            if (problem.isEmpty()) {
                return new Image(image);
            }
            throw new IllegalStateException(
                    noProgram.getMessage() + ", or have a container of " + image + " started: " + problem.get(),
                    noProgram);
        }
    }

    private static Optional<String> containerProblem() {
        try {
            return ServerContainer.problem();
        } catch (NoClassDefFoundError e) { // the dependency is optional
            return Optional.of(
                    "add org.testcontainers:testcontainers 2.x to the class path, and start Docker or Podman");
        }
    }
}
