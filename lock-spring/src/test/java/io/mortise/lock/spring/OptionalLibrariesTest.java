// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Tests that an application needs neither spring-tx nor Reactor. */
class OptionalLibrariesTest {
    public static class Job {
        @Locked(name = "job", maxWait = "0s")
        public String call() {
            return CurrentLease.get().lockName();
        }
    }

    /** Runs what an application without the libraries does. */
    public static final class Application implements Runnable {
        @Override
        public void run() {
            try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
                context.registerBean(LockClient.class, () -> Locks.connect("memory:" + UUID.randomUUID()));
                context.register(LockContext.Locking.class, Job.class);
                context.refresh();
                String name = context.getBean(Job.class).call();
                if (!name.equals(context.getBean(LockTemplate.class).call("job", lease -> lease.lockName()))) {
                    throw new AssertionError(name);
                }
            }
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void locksWorkWithoutTransactionsAndReactor() throws Exception {
        URL[] classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.contains("spring-tx") && !entry.contains("reactor-core"))
                .map(OptionalLibrariesTest::url)
                .toArray(URL[]::new);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> loader.loadClass("reactor.core.publisher.Mono"))
                    .isInstanceOf(ClassNotFoundException.class);
            assertThatThrownBy(() -> loader.loadClass("org.springframework.transaction.TransactionExecutionListener"))
                    .isInstanceOf(ClassNotFoundException.class);
            thread.setContextClassLoader(loader);
            Class<?> application = loader.loadClass(Application.class.getName());
            assertThat(application).isNotSameAs(Application.class);
            ((Runnable) application.getConstructor().newInstance()).run();
        } finally {
            thread.setContextClassLoader(before);
        }
    }
}
