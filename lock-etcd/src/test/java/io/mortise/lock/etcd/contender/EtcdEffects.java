// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.contender;

import io.mortise.lock.etcd.contender.EtcdContenderEffect.PassTurn;
import io.mortise.lock.etcd.contender.EtcdContenderEffect.Plain;
import io.mortise.lock.etcd.contender.EtcdScope.Flaw;
import io.mortise.lock.etcd.contender.EtcdTraffic.Sent;
import io.mortise.lock.etcd.contender.ModelledRequest.Kind;
import io.mortise.lock.etcd.contender.ModelledRequest.Origin;
import io.mortise.lock.etcd.contender.ModelledSession.Member;
import io.mortise.lock.etcd.contender.ModelledSession.TurnNotification;
import io.mortise.lock.etcd.contender.ModelledSession.Watch;
import io.mortise.lock.etcd.queue.QueueReplica.ContenderKey;
import io.mortise.lock.explorer.CorePhase;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Performs an effect of a contender's state machine in an {@link EtcdWorld}, with the session that its client's contenders share. */
final class EtcdEffects {
    private final EtcdWorld world;
    private final int i;
    private final ModelledEtcdContender contender;
    private final ModelledEtcdClient client;
    private final @Nullable ModelledSession session;

    private EtcdEffects(EtcdWorld world, int i) {
        this.world = world;
        this.i = i;
        contender = world.contenders.get(i);
        client = world.clients.get(contender.client);
        session = world.sessionOf(i);
    }

    static void perform(EtcdWorld world, int contender, EtcdContenderEffect effect) {
        new EtcdEffects(world, contender).perform(effect);
    }

    private void perform(EtcdContenderEffect effect) {
        if (effect instanceof Plain plain) {
            performPlain(plain);
        } else if (effect instanceof EtcdContenderEffect.SendPut send) {
            send(Kind.PUT, send.epoch(), null, false);
        } else if (effect instanceof EtcdContenderEffect.SetRevision set) {
            contender.revision = set.revision();
        } else if (effect instanceof EtcdContenderEffect.SendGiveWay send) {
            send(Kind.GIVE_WAY, 0, send.ahead(), false);
        } else if (effect instanceof EtcdContenderEffect.NoteDelivery note) {
            afterwards(() -> world.feed(i, new EtcdContenderEvent.ResultDelivered(note.position())));
        } else if (effect instanceof PassTurn pass) {
            afterwards(() -> passTurn(pass));
        } else if (effect instanceof EtcdContenderEffect.SendWithdrawal send) {
            send(Kind.WITHDRAW, 0, null, send.newEpoch());
        } else if (effect instanceof EtcdContenderEffect.GrantLease) {
            client.sent.add(new Sent(i, contender.incarnation, null, world.cluster.newDelay()));
        } else if (effect instanceof EtcdContenderEffect.SendMove send) {
            send(Kind.MOVE, send.leaseId(), null, send.newEpoch());
        } else if (effect instanceof EtcdContenderEffect.RevokeLease revoke) {
            world.cluster.endLease(revoke.leaseId());
        } else if (effect instanceof EtcdContenderEffect.LeaveQueue leave) {
            if (session != null) {
                session.joined.remove(i);
                session.slots.remove(contender.slot);
                session.removals -= leave.removalCounted() ? 1 : 0;
            }
        } else if (effect instanceof EtcdContenderEffect.ReportGranted report) {
            afterwards(() -> world.granted(i, report.token()));
        } else if (effect instanceof EtcdContenderEffect.FailAttempt) {
            afterwards(() -> world.attemptEnded(i, CorePhase.RETRYING));
        } else if (effect instanceof EtcdContenderEffect.ReportEnded report) {
            afterwards(() -> world.ended(i, report.existed()));
        } else if (effect instanceof EtcdContenderEffect.FailEnd) {
            afterwards(() -> world.endFailed(i));
        } else {
            throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void performPlain(Plain effect) {
        switch (effect) {
            case JOIN_QUEUE -> join();
            case SEND_READ -> send(Kind.READ, 0, null, false);
            case SEND_CHECK -> send(Kind.CHECK, 0, null, false);
            case SEND_DELETION -> send(Kind.DELETE, 0, null, false);
            case SEND_DELETION_IF_OWN -> send(Kind.DELETE_IF_OWN, 0, null, false);
            case AWAIT_SESSION_REMOVAL -> contender.awaitsSession = true;
            case START_CLEANUP -> contender.cleansUp = true;
            case END_SESSION -> world.endSessionOf(i);
            case WAKE_WAITER -> afterwards(() -> world.wake(i));
            case REPORT_LOSS -> afterwards(() -> world.lost(i));
            case REPORT_WAITING -> afterwards(() -> world.attemptEnded(i, CorePhase.WAITING));
            case REPORT_KEY_DELETED, REPORT_SESSION_ENDED -> afterwards(() -> world.displaced(i));
            case FAIL_RESTLESS, FAIL_NOT_SENT -> afterwards(() -> world.attemptEnded(i, CorePhase.RETRYING));
            default -> {
                if (session != null) {
                    performInQueue(effect, session);
                } else if (effect == Plain.REQUEST_TURN) {
                    world.feed(
                            i, new EtcdContenderEvent.InTurn(world.epoch(i))); // nobody waits for a turn there any more
                }
            }
        }
    }

    private void performInQueue(Plain effect, ModelledSession session) {
        Member member = new Member(i, contender.revision);
        switch (effect) {
            case REQUEST_TURN -> {
                if (session.maySend(i)) {
                    world.feed(i, new EtcdContenderEvent.InTurn(session.epoch));
                }
            }
            case RELEASE_TURNS ->
                afterwards(() -> {
                    if (!session.ended) {
                        session.releaseTurns(world::isNeeded, this::notifyOfTurn);
                    }
                });
            case CHANGE_SLOT -> changeSlot(session);
            case WATCH_AS_WAITER -> addMember(session, member, false);
            case WATCH_AS_HOLDER_LATER ->
                world.notifying(
                        notify -> contender.deferredWatch = !session.becameHolder(contender.key, member, notify));
            case WATCH_AS_HOLDER -> addMember(session, member, true);
            case UNSUBSCRIBE -> {
                contender.deferredWatch = false;
                session.removeMember(contender.key, member);
                afterwards(() -> {
                    if (!session.ended) {
                        session.leaveTurns(i, world::isNeeded, this::notifyOfTurn);
                    }
                });
            }
            case COUNT_REMOVAL -> session.removals++;
            case START_KEY_SERIES -> session.series++;
            default -> throw new IllegalStateException("not in the model: " + effect);
        }
    }

    private void afterwards(Runnable action) {
        contender.actions.add(action);
    }

    private void send(Kind kind, long number, @Nullable ContenderKey ahead, boolean newEpoch) {
        Origin origin = new Origin(
                ModelledEtcdCluster.LOCK,
                contender.key,
                contender.record,
                "%s" + contender.lease,
                "s",
                contender.lease,
                contender.waits());
        ModelledRequest request = new ModelledRequest(kind, origin, contender.revision, number, ahead, newEpoch);
        client.sent.add(new Sent(i, contender.incarnation, request, 0));
    }

    private void join() {
        if (client.session.ended) {
            client.session = world.cluster.openSession(contender.client, client.sessions++);
        }
        contender.lease = client.session.lease;
        changeSlot(client.session);
        client.session.joined.add(i);
        contender.inbox.add(new EtcdContenderEvent.Joined(client.session.epoch));
    }

    private void changeSlot(ModelledSession session) {
        contender.slot = session.addSlot();
        contender.key = ModelledEtcdCluster.LOCK + "s" + session.lease + "-" + contender.slot + "." + session.series;
    }

    private void addMember(ModelledSession session, Member member, boolean holds) {
        boolean opens = session.watch == Watch.NONE;
        world.notifying(notify -> session.addMember(contender.key, member, holds, notify));
        if (opens && world.scope.has(Flaw.READ_BEFORE_WATCH)) {
            client.readQueue();
        }
    }

    private void passTurn(PassTurn pass) {
        if (session != null && world.sessionOf(i) == session) {
            long others = pass.position().contenders() - (pass.isLeaving() ? 0 : 1) - session.removals;
            boolean isTaken = pass.position().isFirst() ? !pass.isLeaving() : others > 0;
            session.passTurn(i, isTaken, world::isNeeded, this::notifyOfTurn);
        }
    }

    private void notifyOfTurn(int notified, TurnNotification what) {
        world.feed(
                notified,
                switch (what) {
                    case SEND_NOW -> new EtcdContenderEvent.InTurn(Objects.requireNonNull(session).epoch);
                    case LOCK_TAKEN -> new EtcdContenderEvent.LockTaken();
                    case NOT_SENT -> new EtcdContenderEvent.NotSent();
                });
    }
}
