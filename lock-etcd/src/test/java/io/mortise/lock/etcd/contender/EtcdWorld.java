// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdScope.Fault;
import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.etcd.contender.ModelledSession.Notification;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.explorer.CorePhase;
import io.mortise.lock.explorer.FaultBudget;
import io.mortise.lock.explorer.StateKey;
import io.mortise.lock.explorer.World;
import io.mortise.lock.explorer.etcd.EtcdStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Contenders for one lock, the core that drives them, their clients' sessions, and an etcd cluster, at one moment. The state
 * machine is that of production; the core, what the contenders of a client share, and the store are modelled. Never changed after
 * its step.
 *
 * <p>Requests of a connection are executed in any order. Time is not modelled. A lease's deadline is a step, and the store ends the
 * lease only after it.
 */
final class EtcdWorld implements World<EtcdWorld>, CorePhase.Calls {
    private static final Duration DELAY = Duration.ofSeconds(9);

    final EtcdScope scope;
    final List<ModelledEtcdClient> clients = new ArrayList<>();
    final List<ModelledEtcdContender> contenders = new ArrayList<>();
    final ModelledEtcdCluster cluster;
    FaultBudget<Fault> faults;
    long highestToken;
    Optional<String> broken = Optional.empty();

    /** The start: contenders that have made no request. */
    EtcdWorld(EtcdScope scope) {
        this.scope = scope;
        faults = new FaultBudget<>(scope.faults(), scope.possible());
        cluster = new ModelledEtcdCluster(scope, clients);
        int count =
                scope.clientOfContender().stream().mapToInt(i -> i + 1).max().orElse(0);
        for (int i = 0; i < count; i++) {
            clients.add(new ModelledEtcdClient(cluster.openSession(i, 0)));
        }
        for (int i = 0; i < scope.clientOfContender().size(); i++) {
            int client = scope.clientOfContender().get(i);
            contenders.add(new ModelledEtcdContender(client, scope.kinds().charAt(i), i, 0));
        }
    }

    EtcdWorld(EtcdWorld from) {
        scope = from.scope;
        from.clients.forEach(each -> clients.add(new ModelledEtcdClient(each)));
        from.contenders.forEach(each -> contenders.add(each.copy()));
        cluster = new ModelledEtcdCluster(from.cluster, clients);
        faults = from.faults;
        highestToken = from.highestToken;
        broken = from.broken;
    }

    /** Returns the session of a contender; null if it has ended. */
    @Nullable
    ModelledSession sessionOf(int i) {
        ModelledSession session = clients.get(contenders.get(i).client).session;
        return session.lease == contenders.get(i).lease && !session.ended ? session : null;
    }

    @Override
    public List<Step<EtcdWorld>> steps() {
        return EtcdSteps.of(this);
    }

    void spendFault() {
        faults = faults.spent();
    }

    /** Forgets what has no effect any more, so that fewer worlds differ. */
    EtcdWorld withoutEffectless() {
        for (int at = 0; at < clients.size(); at++) {
            int client = at;
            ModelledEtcdClient each = clients.get(at);
            if (each.session.watch != Watch.NONE
                    && contenders.stream().noneMatch(one -> one.client == client && one.core != CorePhase.DONE)) {
                each.endWatch(false);
            }
            each.replies.removeIf(reply -> !isAwaited(reply.to()));
            each.sent.removeIf(sent -> !isAwaited(sent) && !cluster.mayChangeStore(sent));
        }
        cluster.forgetEffectless();
        contenders.stream()
                .filter(each -> each.core == CorePhase.DONE && each.protocol.phase() instanceof EtcdContenderState.Gone)
                .forEach(ModelledEtcdContender::forget);
        return this;
    }

    /** Returns whether anybody takes the reply. */
    boolean isAwaited(Sent sent) {
        return sent.contender() < 0 || contenders.get(sent.contender()).incarnation == sent.incarnation();
    }

    // ---- the core

    @Override
    public void attempt(int i) {
        ModelledEtcdContender contender = contenders.get(i);
        contender.core = CorePhase.ATTEMPTING;
        contender.woken = false;
        feed(i, new EtcdContenderEvent.Attempt(epoch(i)));
    }

    @Override
    public void release(int i) {
        end(i, contenders.get(i).kind == 'd');
    }

    @Override
    public void end(int i) {
        end(i, false);
    }

    void end(int i, boolean withDelay) {
        ModelledEtcdContender contender = contenders.get(i);
        contender.core = CorePhase.ENDING;
        contender.removed = false;
        feed(i, withDelay ? new EtcdContenderEvent.EndAfter(DELAY, epoch(i)) : new EtcdContenderEvent.End(epoch(i)));
    }

    long epoch(int i) {
        ModelledSession session = clients.get(contenders.get(i).client).session;
        return session.lease == contenders.get(i).lease ? session.epoch : 0;
    }

    @Override
    public void giveUp(int i) {
        ModelledEtcdContender contender = contenders.get(i);
        contender.gaveUp = true;
        if (contender.core != CorePhase.ATTEMPTING) {
            end(i);
        }
    }

    /** Returns whether the core awaits this outcome. */
    private boolean awaits(int i, CorePhase expected) {
        ModelledEtcdContender contender = contenders.get(i);
        if (contender.core != expected) {
            broken = Optional.of("SPI: contender " + i + " has an outcome while " + contender.core);
        }
        return contender.core == expected;
    }

    void attemptEnded(int i, CorePhase then) {
        if (awaits(i, CorePhase.ATTEMPTING)) {
            contenders.get(i).core = then;
            if (contenders.get(i).gaveUp
                    || (then == CorePhase.WAITING && !contenders.get(i).waits())) {
                end(i);
            }
        }
    }

    void displaced(int i) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        ModelledEtcdContender contender = contenders.get(i);
        boolean asksAgain = !contender.gaveUp && contender.kind != 'o';
        contender.core = contender.cleansUp ? CorePhase.END_FAILED : CorePhase.DONE; // the cleanup ends it
        if (asksAgain && contender.cleansUp) {
            contenders.add(new ModelledEtcdContender(contender.client, contender.kind, contenders.size(), 0));
        } else if (asksAgain) {
            replace(i);
        }
    }

    void granted(int i, long token) {
        if (!awaits(i, CorePhase.ATTEMPTING)) {
            return;
        }
        ModelledEtcdContender contender = contenders.get(i);
        ModelledSession session = sessionOf(i);
        contender.core = CorePhase.HOLDING;
        contender.token = token;
        if (contender.gaveUp || session == null || session.deadlinePassed) {
            end(i);
        } else if (believes(i)) {
            if (token <= highestToken) {
                broken = Optional.of("S03: token " + token + " after " + highestToken);
            }
            highestToken = token;
        }
    }

    void ended(int i, boolean existed) {
        if (!awaits(i, CorePhase.ENDING)) {
            return;
        }
        ModelledEtcdContender contender = contenders.get(i);
        contender.core = CorePhase.DONE;
        if (existed != contender.removed) {
            broken = Optional.of("S05: the end of contender " + i + " says " + existed + ", and the store "
                    + (contender.removed ? "had" : "did not have") + " its key");
        }
        contender.removed = false;
        if (contender.kind == 'u' && contender.incarnation == 0) {
            replace(i);
        }
    }

    /** Begins again with another attempt id. */
    private void replace(int i) {
        ModelledEtcdContender old = contenders.get(i);
        old.inbox.clear();
        contenders.set(i, new ModelledEtcdContender(old.client, old.kind, i, old.incarnation + 1));
    }

    void endFailed(int i) {
        if (awaits(i, CorePhase.ENDING)) {
            contenders.get(i).core = CorePhase.END_FAILED;
        }
    }

    void wake(int i) {
        ModelledEtcdContender contender = contenders.get(i);
        contender.woken |= contender.core == CorePhase.ATTEMPTING || contender.core == CorePhase.WAITING;
    }

    void lost(int i) {
        if (contenders.get(i).core == CorePhase.HOLDING) {
            end(i);
        }
    }

    /** Returns whether its caller still waits. */
    boolean isNeeded(int i) {
        return !contenders.get(i).gaveUp;
    }

    /** Returns whether {@code isHeld()} of the contender's lease is true, and no operator has taken the lock from it. */
    boolean believes(int i) {
        ModelledEtcdContender contender = contenders.get(i);
        ModelledSession session = sessionOf(i);
        return contender.core == CorePhase.HOLDING && !contender.revoked && session != null && !session.deadlinePassed;
    }

    // ---- the state machine

    /** Takes an event as {@code SerialMachine} does: what comes meanwhile waits, and the core is told afterwards. */
    void feed(int i, EtcdContenderEvent event) {
        ModelledEtcdContender contender = contenders.get(i);
        contender.inbox.add(event);
        while (!contender.working && !contender.inbox.isEmpty()) {
            contender.working = true;
            EtcdContenderState.Step step =
                    scope.variant().machine().apply(contender.protocol, contender.inbox.remove(0));
            contender.protocol = step.state();
            step.effects().forEach(effect -> EtcdEffects.perform(this, i, effect));
            contender.working = false;
            List<Runnable> actions = List.copyOf(contender.actions);
            contender.actions.clear();
            actions.forEach(Runnable::run);
        }
    }

    // ---- what the contenders of a client share

    /** Runs a change of a session's queue, then notifies contenders. */
    void notifying(Consumer<BiConsumer<Integer, Notification>> change) {
        List<Runnable> notifications = new ArrayList<>();
        change.accept((i, what) -> notifications.add(() -> feed(
                i,
                what == Notification.DELETED
                        ? new EtcdContenderEvent.KeyDeleted()
                        : new EtcdContenderEvent.FirstInQueue())));
        notifications.forEach(Runnable::run);
    }

    void registerWatch(int at) {
        clients.get(at).session.watch = Watch.REGISTERED;
        if (!scope.has(Flaw.READ_BEFORE_WATCH)) {
            clients.get(at).readQueue();
        }
    }

    void loseWatch(int at) {
        ModelledEtcdClient client = clients.get(at);
        if (scope.has(Flaw.WATCH_ENDS_UNNOTICED)) {
            client.session.arriving.clear();
            return;
        }
        client.endWatch(client.session.hasMembers() && !scope.has(Flaw.WATCH_STAYS_CLOSED));
    }

    /** Ends the session of a contender, if it has not ended. */
    void endSessionOf(int i) {
        if (sessionOf(i) != null) {
            endSession(contenders.get(i).client);
        }
    }

    /** The client ends its session: leases are lost, then contenders are told. */
    void endSession(int at) {
        ModelledSession session = clients.get(at).session;
        if (session.ended) {
            return;
        }
        session.deadlinePassed = true; // nobody believes any more
        List<Integer> joined = List.copyOf(session.joined);
        joined.forEach(this::lost);
        clients.get(at).endWatch(false);
        session.end();
        joined.forEach(i -> feed(i, new EtcdContenderEvent.SessionEnded()));
        session.joined.clear();
    }

    /** Notes that the holder does not hold the lock any more if its key is among those that are deleted. */
    void revokeHead(Predicate<EtcdStore.Entry> deleted) {
        cluster.head()
                .filter(deleted)
                .ifPresent(head -> contenders.forEach(each -> each.revoked |= each.record.equals(head.value())));
    }

    // ---- what the exploration asks

    @Override
    public Optional<String> violation() {
        return EtcdChecks.violation(this);
    }

    @Override
    public boolean isFinal() {
        return EtcdChecks.isFinal(this);
    }

    @Override
    public List<String> situations() {
        return EtcdChecks.situations(this);
    }

    @Override
    public void describe(StateKey key) {
        EtcdWorldKey.describe(this, key);
    }
}
