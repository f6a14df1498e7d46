// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory.page;

import io.mortise.lock.DistributedLock;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.ElectionListener;
import io.mortise.lock.recipe.Term;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;

/** The code that {@code docs/leader-election.md} shows. */
final class LeaderElectionSnippets {
    private LeaderElectionSnippets() {}

    /** A protected resource. */
    interface Store {
        void write(String job, long epoch);
    }

    static Election start(LockClient locks, BlockingQueue<String> jobs, Store store) {
        DistributedLock lock = locks.named("scheduler");
        Election election = Election.on(lock).run(term -> {
            while (!term.isOver()) {
                String job = jobs.take(); // the stop interrupts it
                term.ensureHeld(); // LeaseLostException after a loss
                store.write(job, term.epoch()); // the store rejects lower epochs
            }
        });
        return election;
    }

    static Election options(LockClient locks, ElectionListener metrics) {
        DistributedLock lock = locks.named(
                "scheduler",
                LockOptions.defaults().leaseDuration(Duration.ofSeconds(10)).metadata(Map.of("node", "a")));
        return Election.on(lock)
                .pauseAfterTerm(Duration.ofSeconds(1))
                .pauseAfterFailure(Duration.ofSeconds(1), Duration.ofSeconds(30))
                .stopTimeout(Duration.ofSeconds(10))
                .listener(metrics)
                .run(LeaderElectionSnippets::serve);
    }

    static void serve(Term term) throws Exception {
        try (ServerSocket server = new ServerSocket(0)) {
            term.onStop(() -> closeQuietly(server)); // accept() ignores interrupts
            while (!term.isOver()) {
                Socket client = server.accept();
                client.close();
            }
        } catch (java.net.SocketException e) {
            if (!term.isOver()) {
                throw e;
            }
        }
    }

    private static void closeQuietly(ServerSocket server) {
        try {
            server.close();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    static String leader(Election election) {
        return election.leader()
                .join()
                .map(holder -> holder.metadata().getOrDefault("node", "?"))
                .orElse("nobody");
    }
}
