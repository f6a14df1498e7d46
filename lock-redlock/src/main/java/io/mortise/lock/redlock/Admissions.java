// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who of the masters votes. Each is greeted on each new connection, and admitted by whoever finds that it may be: see {@link
 * Admission}. Thread-safe.
 */
final class Admissions {
    private static final Logger log = LoggerFactory.getLogger(Admissions.class);

    /** How often one that does not vote is greeted again: time passes, and somebody else may have admitted it. */
    private static final Duration AGAIN = Duration.ofMillis(250);

    private final Masters masters;
    private final Quorum quorum;
    private final RedlockKeys keys;
    private final BackendContext context;
    private final Runnable whenOneVotes;
    private final AtomicLong longestLeaseMillis = new AtomicLong();

    @GuardedBy("this")
    private final Set<Master> admitting = new HashSet<>();

    /** @param whenOneVotes told when one begins to */
    Admissions(Masters masters, RedlockKeys keys, BackendContext context, Runnable whenOneVotes) {
        this.masters = masters;
        this.quorum = masters.quorum();
        this.keys = keys;
        this.context = context;
        this.whenOneVotes = whenOneVotes;
    }

    /** This client may ask for such a lease. */
    void leases(Duration lease) {
        if (longestLeaseMillis.get() < lease.toMillis()) {
            longestLeaseMillis.accumulateAndGet(lease.toMillis(), Math::max);
        }
    }

    /** A new connection to it stands, or what it said before is in doubt. */
    void greet(Master master, RedisNode node) {
        int epoch = node.epoch();
        node.ask("INFO server", commands -> commands.info("server"))
                .thenCompose(info -> greet(node, epoch, info))
                .whenComplete((said, failure) -> {
                    if (node.epoch() != epoch) {
                        return; // the next connection is greeted by itself
                    }
                    if (failure == null) {
                        heard(master, said);
                    } else {
                        master.refused(failure);
                    }
                    masters.changed();
                    if (failure != null || !said.votes()) {
                        context.clock().schedule(AGAIN, () -> greetAgain(master, node, epoch));
                    }
                });
    }

    private void greetAgain(Master master, RedisNode node, int epoch) {
        if (master.node() == node
                && node.isUsable()
                && node.isConnected()
                && node.epoch() == epoch
                && (master.voting() == null || master.pace().lags())) {
            greet(master, node);
        }
    }

    private CompletionStage<Master.Greeted> greet(RedisNode node, int epoch, String info) {
        String run = field(info, "run_id");
        long sent = context.clock().nanoTime();
        return node.ask(
                        "greeting",
                        RedlockScript.GREET.script(),
                        new String[] {keys.state()},
                        run,
                        String.valueOf(longestLeaseMillis.get()))
                .thenApply(answer -> {
                    long now = (Long) answer.get(4);
                    long since = (Long) answer.get(2);
                    node.time().heard(sent, now);
                    longestLeaseMillis.accumulateAndGet((Long) answer.get(3), Math::max);
                    Admission.Standing standing = new Admission.Standing(
                            answer.get(0).equals(1L),
                            answer.get(1).equals(1L),
                            now - lived(info) * 1_000_000,
                            since == 0 ? OptionalLong.empty() : OptionalLong.of(since),
                            now);
                    return new Master.Greeted(
                            node, epoch, run, standing, context.clock().nanoTime());
                });
    }

    /** In seconds, at least: the server counts the ends of seconds since the one in which it began. */
    private static long lived(String info) {
        return Math.max(0, Long.parseLong(field(info, "uptime_in_seconds")) - 1);
    }

    private static String field(String info, String name) {
        return ServerInfo.field(info, name)
                .orElseThrow(() -> new BackendUnavailableException("INFO server says nothing of " + name));
    }

    private void heard(Master master, Master.Greeted said) {
        masters.twinOf(master, said.run()).ifPresentOrElse(master::refused, () -> {
            boolean votedBefore = master.voting() != null;
            master.greeted(said);
            if (said.votes() && !votedBefore) {
                whenOneVotes.run();
            }
            // What is known of one of them may decide about the others.
            masters.all()
                    .forEach(one -> one.greeted().filter(its -> !its.votes()).ifPresent(its -> consider(one, its)));
        });
    }

    private Admission.Verdict judge(Master master, Master.Greeted said) {
        return new Admission(quorum, longestLeaseMillis.get() * 1_000)
                .of(
                        said.at(context.clock().nanoTime()),
                        masters.othersThan(master).stream().map(Master::asOther).toList());
    }

    private void consider(Master master, Master.Greeted said) {
        Admission.Verdict verdict = judge(master, said);
        if (verdict instanceof Admission.Verdict.Wait wait) {
            master.waits(Duration.ofNanos(wait.micros() * 1_000));
        } else if (verdict instanceof Admission.Verdict.Admit admit && begin(master)) {
            admit(master, said, admit.byClock()).whenComplete((admitted, failure) -> {
                end(master);
                if (failure != null) {
                    master.refused(failure);
                    log.debug("event=not-admitted master={}", master.endpoint(), failure);
                } else if (admitted) {
                    log.info("event=admitted master={} by_clock={}", master.endpoint(), admit.byClock());
                    greet(master, said.node());
                }
            });
        }
    }

    private synchronized boolean begin(Master master) {
        return admitting.add(master);
    }

    private synchronized void end(Master master) {
        admitting.remove(master);
    }

    /** False: not now, as the others tell. */
    private CompletionStage<Boolean> admit(Master master, Master.Greeted said, boolean byClock) {
        List<CompletableFuture<Map<String, String>>> states = new ArrayList<>();
        for (Master other : masters.othersThan(master)) {
            Master.Greeted voting = other.voting();
            if (voting != null) {
                states.add(state(voting).toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(states.toArray(CompletableFuture[]::new)).thenCompose(ok -> {
            List<Map<String, String>> known =
                    states.stream().map(CompletableFuture::join).toList();
            // Who voted for a longer lease than this client knew of has noted that; with fewer others it would be a
            // guess.
            longestLeaseMillis.accumulateAndGet(highest(known, "lease"), Math::max);
            boolean still = judge(master, said).equals(new Admission.Verdict.Admit(byClock));
            if (!still || (!byClock && known.size() < quorum.knowsAll())) {
                return CompletableFuture.completedFuture(false);
            }
            List<String> args = new ArrayList<>();
            args.add(said.run());
            args.add(String.valueOf(said.standing().sinceMicros().orElse(0)));
            args.add(byClock ? "1" : "0");
            for (String bucket : RedlockKeys.buckets()) {
                args.add(bucket);
                args.add(String.valueOf(highest(known, bucket)));
            }
            return said.node()
                    .ask(
                            "admission",
                            RedlockScript.ADMIT.script(),
                            new String[] {keys.state()},
                            args.toArray(String[]::new))
                    .thenApply(answer -> answer.get(0).equals(1L));
        });
    }

    private static long highest(List<Map<String, String>> states, String field) {
        return states.stream()
                .mapToLong(state -> Long.parseLong(state.getOrDefault(field, "0")))
                .max()
                .orElse(0);
    }

    /** Its counters, if it votes indeed. */
    private CompletionStage<Map<String, String>> state(Master.Greeted voting) {
        return voting.node()
                .ask("counters", commands -> commands.hgetall(keys.state()))
                .thenApply(state -> {
                    if (!voting.run().equals(state.get("run")) || !voting.stands()) {
                        throw new BackendUnavailableException(
                                voting.node().endpoints() + " has forgotten its counters");
                    }
                    return state;
                });
    }

    /** A request that was sent then on that connection had no answer in time. */
    void unanswered(Master master, Master.Greeted said, long sentNanos) {
        if (master.pace().unanswered(sentNanos)) {
            log.info("event=master-lags master={}", master.endpoint());
            greetAgain(master, said.node(), said.epoch());
        }
    }

    /** An answer of that connection says that it may have forgotten. */
    void doubt(Master master, Master.Greeted said) {
        if (master.doubt(said) && said.stands()) {
            greet(master, said.node());
        }
    }
}
