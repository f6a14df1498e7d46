// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockException;
import io.mortise.lock.redis.node.FirstContact;
import io.mortise.lock.redis.node.NodeListener;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.redis.node.ServerInfo;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who of the masters votes. Each is greeted on each new connection, and admitted by whoever finds that it may be: see {@link
 * Admission}. Thread-safe.
 */
final class Masters {
    private static final Logger log = LoggerFactory.getLogger(Masters.class);

    /** How often those that do not vote are looked at again at least. */
    private static final Duration LOOK_AGAIN = Duration.ofMillis(250);

    private final Quorum quorum;
    private final RedlockKeys keys;
    private final BackendContext context;
    private final AtomicLong longestLeaseMillis;
    private final CompletableFuture<Void> ready = new CompletableFuture<>();
    private volatile List<Master> all = List.of();

    @GuardedBy("this")
    private final List<Master> admitting = new ArrayList<>();

    @GuardedBy("this")
    private boolean looking;

    /** @param longestLease that this client may ask for */
    Masters(Quorum quorum, RedlockKeys keys, BackendContext context, Duration longestLease) {
        this.quorum = quorum;
        this.keys = keys;
        this.context = context;
        this.longestLeaseMillis = new AtomicLong(longestLease.toMillis());
    }

    /** In their order; once, before any is started. */
    void are(List<Master> masters) {
        all = List.copyOf(masters);
    }

    List<Master> all() {
        return all;
    }

    /** Those that can be asked, whether they vote or not. */
    List<Master> connected() {
        return all.stream().filter(master -> master.node().isConnected()).toList();
    }

    Quorum quorum() {
        return quorum;
    }

    /** Completes once a majority votes. */
    CompletableFuture<Void> ready() {
        return ready;
    }

    /** For a place in line, the same at all masters: what the clock of one of them shows by now, in µs. */
    String place() {
        for (Master master : all) {
            Master.Greeted voting = master.voting();
            if (voting != null) {
                return String.valueOf(
                        voting.node().time().atMost(context.clock().nanoTime()));
            }
        }
        return "0"; // no master will be asked
    }

    /** A new connection to it stands, or what it said before is in doubt. */
    void greet(Master master, RedisNode node) {
        int epoch = node.epoch();
        node.ask("INFO server", commands -> commands.info("server"))
                .thenCompose(info -> standing(node, info)
                        .thenApply(standing -> new Master.Greeted(
                                node,
                                epoch,
                                field(info, "run_id"),
                                standing,
                                context.clock().nanoTime())))
                .whenComplete((said, failure) -> {
                    if (failure == null) {
                        master.greeted(said);
                        look();
                    } else {
                        master.refused(failure);
                        giveUpIfRefused();
                        context.clock().schedule(LOOK_AGAIN, () -> greetAgain(master, node, epoch));
                    }
                });
    }

    /** So many refuse us that there can be no majority until somebody changes that: nothing to wait for. */
    private void giveUpIfRefused() {
        List<LockException> refusals = new ArrayList<>();
        for (Master master : all) {
            master.failure()
                    .map(failure -> FirstContact.explained(failure, master.endpoint()))
                    .filter(failure -> !(failure instanceof BackendUnavailableException))
                    .ifPresent(refusals::add);
        }
        if (refusals.size() > quorum.spare()) {
            ready.completeExceptionally(refusals.get(0));
        }
    }

    private void greetAgain(Master master, RedisNode node, int epoch) {
        if (node.epoch() == epoch && node.isConnected() && master.greeted().isEmpty()) {
            greet(master, node);
        }
    }

    private CompletionStage<Admission.Standing> standing(RedisNode node, String info) {
        String[] state = {keys.state()};
        return node.ask(
                        "greeting",
                        RedlockScript.GREET.script(),
                        state,
                        field(info, "run_id"),
                        String.valueOf(longestLeaseMillis.get()))
                .thenApply(answer -> {
                    long now = (Long) answer.get(4);
                    long since = (Long) answer.get(2);
                    longestLeaseMillis.accumulateAndGet((Long) answer.get(3), Math::max);
                    return new Admission.Standing(
                            answer.get(0).equals(1L),
                            answer.get(1).equals(1L),
                            now - Long.parseLong(field(info, "uptime_in_seconds")) * 1_000_000,
                            since == 0 ? OptionalLong.empty() : OptionalLong.of(since),
                            now);
                });
    }

    private static String field(String info, String name) {
        return ServerInfo.field(info, name)
                .orElseThrow(() -> new IllegalStateException("INFO server says nothing of " + name));
    }

    /** Something has changed, or time has passed. */
    private void look() {
        int voting = 0;
        boolean waits = false;
        for (Master master : all) {
            if (master.voting() != null) {
                voting++;
            } else if (master.greeted().isPresent()) {
                waits = true;
                consider(master, master.greeted().get());
            }
        }
        if (voting >= quorum.majority()) {
            ready.complete(null);
        }
        if (waits) {
            synchronized (this) {
                if (looking) {
                    return;
                }
                looking = true;
            }
            context.clock().schedule(LOOK_AGAIN, () -> {
                synchronized (this) {
                    looking = false;
                }
                look();
            });
        }
    }

    private void consider(Master master, Master.Greeted said) {
        List<Master> others = new ArrayList<>(all);
        others.remove(master);
        Admission admission = new Admission(quorum, longestLeaseMillis.get() * 1_000);
        Admission.Verdict verdict = admission.of(
                said.at(context.clock().nanoTime()),
                others.stream().map(Master::asOther).toList());
        if (verdict instanceof Admission.Verdict.Wait wait) {
            master.waits(Duration.ofNanos(wait.micros() * 1_000));
        } else if (verdict instanceof Admission.Verdict.Admit admit) {
            synchronized (this) {
                if (admitting.contains(master)) {
                    return;
                }
                admitting.add(master);
            }
            admit(master, said, others, admit.byClock()).whenComplete((ok, failure) -> {
                synchronized (this) {
                    admitting.remove(master);
                }
                if (failure != null) {
                    log.info("event=not-admitted master={} cause=\"{}\"", master.endpoint(), failure.toString());
                } else {
                    log.info("event=admitted master={} by_clock={}", master.endpoint(), admit.byClock());
                    look();
                }
            });
        }
    }

    private CompletionStage<?> admit(Master master, Master.Greeted said, List<Master> others, boolean byClock) {
        List<CompletableFuture<Map<String, String>>> states = new ArrayList<>();
        for (Master other : others) {
            Master.Greeted voting = other.voting();
            if (voting != null) {
                states.add(state(voting).toCompletableFuture());
            }
        }
        return CompletableFuture.allOf(states.toArray(CompletableFuture[]::new)).thenCompose(ok -> {
            List<String> args = new ArrayList<>(List.of(said.run(), byClock ? "1" : "0"));
            if (!byClock && states.size() < quorum.knowsAll()) {
                throw new IllegalStateException("others went away");
            }
            for (String bucket : RedlockKeys.buckets()) {
                args.add(bucket);
                args.add(String.valueOf(states.stream()
                        .mapToLong(state -> Long.parseLong(state.join().getOrDefault(bucket, "0")))
                        .max()
                        .orElse(0)));
            }
            return said.node()
                    .ask(
                            "admission",
                            RedlockScript.ADMIT.script(),
                            new String[] {keys.state()},
                            args.toArray(String[]::new))
                    .thenAccept(answer -> {
                        if (said.stands()) {
                            master.greeted(new Master.Greeted(
                                    said.node(),
                                    said.epoch(),
                                    said.run(),
                                    said.standing().nowAdmitted(),
                                    said.atNanos()));
                        }
                    });
        });
    }

    /** Its counters, if it votes indeed. */
    private CompletionStage<Map<String, String>> state(Master.Greeted voting) {
        return voting.node()
                .ask("counters", commands -> commands.hgetall(keys.state()))
                .thenApply(state -> {
                    if (!voting.run().equals(state.get("run")) || !voting.stands()) {
                        throw new IllegalStateException(voting.node().endpoints() + " has forgotten them");
                    }
                    return state;
                });
    }

    /** Its answer says that it may have forgotten. */
    void doubt(Master master, Master.Greeted said) {
        master.doubt(said);
        if (said.stands()) {
            greet(master, said.node());
        }
    }

    /** What happens on the connections of one master. */
    NodeListener listener(int index, NodeListener told) {
        return new NodeListener() {
            @Override
            public void message(RedisNode from, String text) {
                told.message(from, text);
            }

            @Override
            public void listening(RedisNode node) {
                told.listening(node);
                greet(all.get(index), node);
            }

            @Override
            public void trouble(RedisNode node, Throwable cause) {
                giveUpIfRefused();
            }
        };
    }
}
