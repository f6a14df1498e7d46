// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Tests {@code @SchedulerLock} on a provider of this module, and that {@code docs/shedlock.md} shows code of this class. */
class SchedulerLockTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);

    @Configuration
    @EnableSchedulerLock(defaultLockAtMostFor = "2h")
    static class JobConfiguration {
        @Bean
        LockClient locks() {
            return Locks.connect("memory:jobs");
        }

        @Bean
        LockProvider lockProvider(LockClient locks) {
            return new MortiseLockProvider(locks);
        }
    }

    static class Jobs {
        int runs;
        Runnable during = () -> {};

        @SchedulerLock(name = "nightly-report", lockAtLeastFor = "5m")
        public void report() {
            LockAssert.assertLocked();
            runs++;
            during.run();
        }

        @SchedulerLock(name = "import")
        public void importAll() {
            for (int part = 0; part < 3; part++) {
                LockExtender.extendActiveLock(Duration.ofHours(2), Duration.ZERO); // throws if the lock was lost
                runs++;
                during.run();
            }
        }
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void thePageShowsCodeOfThisClass() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/mortise/lock/shedlock/SchedulerLockTest.java"));
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/shedlock.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks)
                .hasSize(3)
                .allSatisfy(block -> assertThat(withoutSpace(source)).contains(withoutSpace(block)));
    }

    private static AnnotationConfigApplicationContext application() {
        return new AnnotationConfigApplicationContext(JobConfiguration.class, Jobs.class);
    }

    @Test
    void aJobRunsOnceOnTwoApplicationsAndStaysLockedAfterOneHasEnded() {
        try (AnnotationConfigApplicationContext two = application()) {
            Jobs other = two.getBean(Jobs.class);
            try (AnnotationConfigApplicationContext one = application()) {
                Jobs jobs = one.getBean(Jobs.class);
                setDuring(jobs, () -> CompletableFuture.runAsync(other::report).join());
                jobs.report();
                assertThat(runs(jobs)).isEqualTo(1);
            }
            other.report(); // within lockAtLeastFor
            assertThat(runs(other)).isZero();
            LockClient locks = two.getBean(LockClient.class);
            locks.named("nightly-report")
                    .status()
                    .join()
                    .holders()
                    .forEach(holder -> locks.admin()
                            .orElseThrow()
                            .forceRelease("nightly-report", holder)
                            .join());
            other.report();
            assertThat(runs(other)).isEqualTo(1);
        }
    }

    /** The bean may be a proxy, whose fields are not those of its target. */
    private static void setDuring(Jobs jobs, Runnable during) {
        target(jobs).during = during;
    }

    private static int runs(Jobs jobs) {
        return target(jobs).runs;
    }

    private static Jobs target(Jobs jobs) {
        return (Jobs) Objects.requireNonNull(AopProxyUtils.getSingletonTarget(jobs));
    }

    @Test
    void aJobThatLostItsLockStopsAtTheNextExtension() {
        try (AnnotationConfigApplicationContext application = application()) {
            Jobs jobs = application.getBean(Jobs.class);
            LockClient locks = application.getBean(LockClient.class);
            setDuring(
                    jobs,
                    () -> locks.named("import")
                            .status()
                            .join()
                            .holders()
                            .forEach(holder -> locks.admin()
                                    .orElseThrow()
                                    .forceRelease("import", holder)
                                    .join()));
            assertThatThrownBy(jobs::importAll).isInstanceOf(LockExtender.LockCanNotBeExtendedException.class);
            assertThat(runs(jobs)).isEqualTo(1);
        }
    }

    @Test
    void options() {
        LockClient locks = Locks.connect("memory:" + UUID.randomUUID());
        LockProvider provider =
                new MortiseLockProvider(locks, LockOptions.defaults().leaseDuration(Duration.ofMinutes(1)));
        SimpleLock lock =
                provider.lock(configuration(Duration.ofHours(2), Duration.ZERO)).orElseThrow();
        assertThat(locks.named("job").tryAcquireAsync(Duration.ZERO).join()).isEmpty();
        lock.unlock();
        assertThat(locks.named("job").tryAcquireAsync(Duration.ZERO).join()).hasValueSatisfying(Lease::close);
        assertThatThrownBy(() ->
                        new MortiseLockProvider(locks, LockOptions.defaults().maxHold(Duration.ofHours(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT1H");
        locks.close();
    }

    private static LockConfiguration configuration(Duration atMost, Duration atLeast) {
        return new LockConfiguration(ClockProvider.now(), "job", atMost, atLeast);
    }

    @Test
    void aLockAtLeastForBeyondTheLimitIsRefusedBeforeTheJob() {
        try (LockClient locks = Locks.connect("memory:" + UUID.randomUUID())) {
            Duration tooLong = Duration.ofHours(1).plusNanos(1);
            MortiseLockProvider provider = new MortiseLockProvider(locks);
            assertThatThrownBy(() -> provider.lock(configuration(Duration.ofHours(2), tooLong)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(tooLong.toString())
                    .hasMessageContaining("at most PT1H");
            assertThat(locks.named("job").status().join().holders()).isEmpty();
        }
    }

    /** It extends each half of lockAtMostFor, which no longer limits a run then. */
    @Test
    void theKeepAliveLockProviderMayStayAround() {
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        try (LockClient locks = Locks.connect("memory:" + UUID.randomUUID())) {
            LockProvider provider = new KeepAliveLockProvider(new MortiseLockProvider(locks), executor);
            SimpleLock lock = provider.lock(configuration(Duration.ofSeconds(30), Duration.ZERO))
                    .orElseThrow();
            assertThat(locks.named("job").status().join().holders()).hasSize(1);
            lock.unlock();
            assertThat(locks.named("job").status().join().holders()).isEmpty();
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void anInterruptIsKept() {
        try (LockClient locks = Locks.connect("memory:" + UUID.randomUUID())) {
            MortiseLockProvider provider = new MortiseLockProvider(locks);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> provider.lock(configuration(Duration.ofHours(2), Duration.ZERO)))
                    .hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
