// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
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
    private final Duration maxLease;
    private final boolean testOnlyNewMasters;

    private volatile NewMasters newMasters = NewMasters.NONE;

    @GuardedBy("this")
    private final Set<Master> admitting = new HashSet<>();

    /** @param whenOneVotes told when one begins to */
    Admissions(
            Masters masters, RedlockKeys keys, RedlockOptions options, BackendContext context, Runnable whenOneVotes) {
        this.masters = masters;
        this.quorum = masters.quorum();
        this.keys = keys;
        this.maxLease = options.maxLease();
        this.testOnlyNewMasters = options.isTestOnlyNewMasters();
        this.context = context;
        this.whenOneVotes = whenOneVotes;
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
                        String.valueOf(masters.hadQuorum() ? maxLease.toMillis() : 0))
                .thenApply(answer -> {
                    long now = (Long) answer.get(4);
                    long since = (Long) answer.get(2);
                    node.time().heard(sent, now);
                    long known = (Long) answer.get(3);
                    Admission.Standing standing = new Admission.Standing(
                            answer.get(0).equals(1L),
                            answer.get(1).equals(1L),
                            known == 0 ? OptionalLong.empty() : OptionalLong.of(known * 1_000),
                            since == 0 ? OptionalLong.empty() : OptionalLong.of(since),
                            now);
                    return new Master.Greeted(
                            node,
                            epoch,
                            run,
                            standing,
                            standing.agrees(maxLeaseMicros()),
                            context.clock().nanoTime());
                });
    }

    private long maxLeaseMicros() {
        return maxLease.toMillis() * 1_000;
    }

    private static String field(String info, String name) {
        return ServerInfo.field(info, name)
                .orElseThrow(() -> new BackendUnavailableException("INFO server says nothing of " + name));
    }

    private void heard(Master master, Master.Greeted said) {
        masters.twinOf(master, said.run()).ifPresentOrElse(master::refused, () -> {
            boolean votedBefore = master.voting() != null;
            boolean isNews = master.greeted().map(Master.Greeted::agrees).orElse(true);
            master.greeted(said);
            if (!said.agrees()) {
                disagree(master, said, isNews);
            }
            if (said.votes() && !votedBefore) {
                whenOneVotes.run();
            }
            lookForNew();
            // What is known of one of them may decide about the others.
            masters.all()
                    .forEach(one -> one.greeted().filter(its -> !its.votes()).ifPresent(its -> consider(one, its)));
        });
    }

    private void disagree(Master master, Master.Greeted said, boolean isNews) {
        Duration stored = Duration.ofNanos(said.standing().maxLeaseMicros().orElse(0) * 1_000);
        LockConfigurationException refusal = new LockConfigurationException("maxLease is " + maxLease
                + " in this client, but "
                + stored
                + " at " + master.endpoint() + " (prefix \"" + keys.prefix()
                + "\"): it must be the same for all clients, or one master could forget a lease that another client"
                + " still has. Connect with that value; or, to change it, stop all clients"
                + (stored.compareTo(maxLease) > 0 ? ", wait for " + stored : "") + ", and say at each master: HSET "
                + keys.state() + " maxLease " + maxLease.toMillis());
        master.refused(refusal);
        if (isNews) {
            log.warn("event=max-lease-differs {}", refusal.getMessage());
        }
    }

    /** Decided for all at once: as soon as one votes, the others look as if they had lost their data. */
    private void lookForNew() {
        // Said of the masters as they are when this client opens; what happens to them later is no start.
        if (testOnlyNewMasters && !masters.hadQuorum()) {
            newMasters = newMasters.after(
                    masters.all().stream().map(Master::emptyLife).toList());
        }
    }

    private Admission.Verdict judge(Master master, Master.Greeted said) {
        return new Admission(quorum, maxLeaseMicros(), newMasters.contain(said.life()))
                .of(
                        said.at(context.clock().nanoTime()),
                        masters.othersThan(master).stream().map(Master::asOther).toList());
    }

    private void consider(Master master, Master.Greeted said) {
        Admission.Verdict verdict = judge(master, said);
        if (verdict instanceof Admission.Verdict.Wait wait) {
            master.waits(Duration.ofNanos(wait.micros() * 1_000));
        } else if (verdict instanceof Admission.Verdict.Disagreement && said.agrees()) {
            // What it has to wait for, and whether it may vote at all, is not for a client to say that may be wrong.
            masters.othersThan(master).stream()
                    .filter(other -> other.asOther() == Admission.Other.DISAGREES)
                    .findFirst()
                    .flatMap(Master::failure)
                    .ifPresent(master::refused);
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
            boolean still = judge(master, said).equals(new Admission.Verdict.Admit(byClock));
            if (!still || (!byClock && known.size() < quorum.knowsAll())) {
                return CompletableFuture.completedFuture(false);
            }
            List<String> args = new ArrayList<>();
            args.add(said.run());
            args.add(String.valueOf(said.standing().sinceMicros().orElse(0)));
            args.add(String.valueOf(maxLease.toMillis()));
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
