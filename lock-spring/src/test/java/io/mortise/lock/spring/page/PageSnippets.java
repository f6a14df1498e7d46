// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.spring.BusyPolicy;
import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.ElectionLifecycle;
import io.mortise.lock.spring.EnableLocking;
import io.mortise.lock.spring.LockTemplate;
import io.mortise.lock.spring.Locked;
import io.mortise.lock.spring.ReactiveCurrentLease;
import io.mortise.lock.spring.TermEndedEvent;
import io.mortise.lock.spring.TermStartedEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.context.event.EventListener;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;

class PageSnippets {
    private PageSnippets() {}

    static class Mail {
        final List<Long> tokens = new ArrayList<>();

        int sendAll(long token) {
            tokens.add(token);
            return tokens.size();
        }

        void cleanUp() {
            tokens.clear();
        }
    }

    static class Reports {
        final List<String> done = new ArrayList<>();
        final List<Runnable> parts = List.of(() -> done.add("first"), () -> done.add("second"));

        @Scheduled(cron = "0 0 3 * * *")
        @Locked(name = "nightly-report", busy = BusyPolicy.SKIP)
        public void report() {
            for (Runnable part : parts) {
                CurrentLease.get().ensureHeld(); // stop if the lock was lost
                part.run();
            }
        }
    }

    static boolean templates(LockTemplate locks, Mail mail) {
        int sent = locks.maxWait(Duration.ofSeconds(2)).call("mail", lease -> mail.sendAll(lease.fencingToken()));
        boolean ran = locks.tryRun("cleanup", lease -> mail.cleanUp());
        return sent == 1 && ran;
    }

    @EnableRetry(order = EnableLocking.DEFAULT_ORDER - 1)
    static class Retries {}

    static class Accounts {
        @Locked(name = "'account/' + #id", maxWait = "2s")
        public Mono<Long> book(String id) {
            return ReactiveCurrentLease.get().flatMap(lease -> write(id, lease.fencingToken()));
        }

        private static Mono<Long> write(String id, long token) {
            return id.isEmpty() ? Mono.empty() : Mono.just(token);
        }
    }

    /** Jobs that take until they are stopped. */
    static class Jobs {
        final BlockingQueue<Long> epochs = new LinkedBlockingQueue<>();

        void runNext(long epoch) throws InterruptedException {
            epochs.add(epoch);
            new CountDownLatch(1).await();
        }
    }

    @Configuration
    static class Elections {
        @Bean
        Jobs jobs() {
            return new Jobs();
        }

        @Bean
        ElectionLifecycle scheduler(LockClient locks, Jobs jobs) {
            return new ElectionLifecycle(Election.on(locks.named("scheduler")), term -> {
                while (!term.isOver()) {
                    jobs.runNext(term.epoch()); // the stop interrupts it
                }
            });
        }
    }

    static class TermLog {
        final List<String> log = new CopyOnWriteArrayList<>();

        @EventListener
        public void leads(TermStartedEvent event) {
            log.add("leads " + event.term().lockName());
        }

        @EventListener
        public void ended(TermEndedEvent event) {
            log.add("ended: " + event.end());
        }
    }

    @Configuration
    static class TestLocks {
        @Bean
        @Primary
        LockClient memoryLocks() {
            return Locks.connect("memory:" + UUID.randomUUID());
        }
    }
}
