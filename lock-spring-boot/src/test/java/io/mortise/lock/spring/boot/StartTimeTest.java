// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/**
 * Measures how long a web application takes to start with the auto-configuration of this module, and without it, and how much
 * processor time that costs, which other programs on the machine disturb less. Processes start one after the other, in the order with,
 * without, without, with, and so on: {@code -Dmortise.start.repeat} of each, one by default, after one of each that is not
 * counted. Prints the medians.
 */
@Tag("long")
class StartTimeTest {
    private static final String RESULT = "START ";

    /** The application, in a process of its own. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        public static void main(String[] args) {
            try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args)) {
                long millis = ManagementFactory.getRuntimeMXBean().getUptime();
                long cpu = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                        .getProcessCpuTime();
                System.out.println(RESULT + millis + " " + TimeUnit.NANOSECONDS.toMillis(cpu) + " "
                        + context.getBeanDefinitionCount());
            }
        }
    }

    /**
     * One start.
     *
     * @param millis from the start of the JVM until the application is ready
     * @param cpuMillis the processor time of the process until then
     */
    private record Start(int millis, int cpuMillis, int beans) {}

    @Test
    @Timeout(600)
    void theStartTimesArePrinted() throws Exception {
        int repeat = Integer.getInteger("mortise.start.repeat", 1);
        String excluded = "--spring.autoconfigure.exclude="
                + Stream.of(
                                LockClientAutoConfiguration.class,
                                LockingAutoConfiguration.class,
                                LockMetricsAutoConfiguration.class,
                                LockHealthAutoConfiguration.class,
                                LocksEndpointAutoConfiguration.class)
                        .map(Class::getName)
                        .collect(Collectors.joining(","));
        String locks = "--mortise.url=memory:start";
        start(locks);
        start(excluded);
        List<Start> with = new ArrayList<>();
        List<Start> without = new ArrayList<>();
        for (int i = 0; i < repeat; i++) {
            if (i % 2 == 0) {
                with.add(start(locks));
            }
            without.add(start(excluded));
            if (i % 2 != 0) {
                with.add(start(locks));
            }
        }
        System.out.printf(
                "start of %d processes each, median: with locks %s; without %s%n",
                repeat, description(with), description(without));
        assertThat(with.get(0).beans()).isGreaterThan(without.get(0).beans());
    }

    private static String description(List<Start> starts) {
        return median(starts, Start::millis) + " ms, " + median(starts, Start::cpuMillis) + " ms of processor time, "
                + starts.get(0).beans() + " beans";
    }

    private static int median(List<Start> starts, ToIntFunction<Start> value) {
        return starts.stream().mapToInt(value).sorted().toArray()[starts.size() / 2];
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
        return new Start(result.nextInt(), result.nextInt(), result.nextInt());
    }
}
