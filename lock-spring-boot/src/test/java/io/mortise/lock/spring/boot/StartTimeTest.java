// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * Measures how long a web application takes to start with the auto-configuration of this module, and without it: processes take
 * turns, {@code -Dmortise.start.repeat} of each, one by default. Prints the medians.
 */
@Tag("long")
class StartTimeTest {
    private static final String RESULT = "START ";

    /** The application, in a process of its own. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        public static void main(String[] args) {
            long start = System.nanoTime();
            try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args)) {
                long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
                System.out.println(RESULT + millis + " " + context.getBeanDefinitionCount());
            }
        }
    }

    private record Start(int millis, int beans) {}

    @Test
    @Timeout(600)
    void theStartTimesArePrinted() throws Exception {
        int repeat = Integer.getInteger("mortise.start.repeat", 1);
        List<Start> with = new ArrayList<>();
        List<Start> without = new ArrayList<>();
        String excluded = String.join(
                ",",
                Stream.of(
                                LockClientAutoConfiguration.class,
                                LockingAutoConfiguration.class,
                                LockMetricsAutoConfiguration.class,
                                LockHealthAutoConfiguration.class,
                                LocksEndpointAutoConfiguration.class)
                        .map(Class::getName)
                        .toList());
        for (int i = 0; i < repeat; i++) {
            without.add(start("--spring.autoconfigure.exclude=" + excluded));
            with.add(start("--mortise.url=memory:start"));
        }
        System.out.printf(
                "start of %d processes each: median %d ms with locks, %d ms without; %d and %d beans%n",
                repeat,
                median(with),
                median(without),
                with.get(0).beans(),
                without.get(0).beans());
        assertThat(with.get(0).beans()).isGreaterThan(without.get(0).beans());
    }

    private static int median(List<Start> starts) {
        return starts.stream().mapToInt(Start::millis).sorted().toArray()[starts.size() / 2];
    }

    private static Start start(String argument) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Application.class.getName(),
                        "--server.port=0",
                        argument)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        Scanner result = new Scanner(output.substring(output.indexOf(RESULT) + RESULT.length()));
        return new Start(result.nextInt(), result.nextInt());
    }
}
