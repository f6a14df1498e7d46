// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.testkit.history.HistoryEvent.Disturbed;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Model of a process with a session on the {@link ModelLock} and an imprecisely known clock. */
final class ModelProcess {
    private static final long DEADLINE = ModelLock.SESSION * 9 / 10;

    private enum State {
        RUNNING,
        PAUSED,
        CUT,
        DEAD
    }

    private final String name;
    private final Random random;
    private final List<HistoryEvent> events;
    private final long uncertainty;
    private final List<ModelThread> threads = new ArrayList<>();
    private final List<Runnable> delayed = new ArrayList<>();
    private State state = State.RUNNING;
    private long since;
    private long until;
    private boolean checkPending;
    private long calls;

    ModelProcess(String name, ModelLock lock, Random random, List<HistoryEvent> events) {
        this.name = name;
        this.random = random;
        this.events = events;
        this.uncertainty = random.nextInt(3) * 2_000_000L;
        for (int i = 0; i < 2; i++) {
            threads.add(new ModelThread(this, lock, random, events));
        }
    }

    AcquireCallId newCall() {
        return new AcquireCallId(name, "x", ++calls);
    }

    /** Returns an uncertain instant that contains the true one at a random position. */
    UncertainInstant span(long now) {
        long before = (long) (random.nextDouble() * uncertainty);
        return new UncertainInstant(now - before, now - before + uncertainty);
    }

    boolean isCut() {
        return state == State.CUT;
    }

    boolean isDead() {
        return state == State.DEAD;
    }

    boolean isIdle() {
        return isDead() || threads.stream().allMatch(ModelThread::isIdle);
    }

    /** A message that reaches the store when the link is restored. */
    void delay(Runnable withdrawal) {
        delayed.add(withdrawal);
    }

    void step(long now, boolean last) {
        if (state != State.RUNNING) {
            expire(now);
        }
        if (state == State.RUNNING && !last && random.nextInt(150) == 0) {
            disturb(now);
        } else if ((state == State.PAUSED || state == State.CUT) && now >= until) {
            heal(now);
        }
        if (state == State.CUT && now - since >= DEADLINE) {
            threads.forEach(thread -> thread.lose(now));
        }
        if (state == State.RUNNING || state == State.CUT) {
            threads.get(random.nextInt(2)).step(now, last);
        }
    }

    private void expire(long now) {
        if (now - since >= ModelLock.SESSION) {
            threads.forEach(ModelThread::expire);
            delayed.clear();
        }
    }

    private void disturb(long now) {
        since = now;
        until = now + (long) (random.nextDouble() * 2.5 * ModelLock.SESSION);
        checkPending = random.nextBoolean();
        state = switch (random.nextInt(5)) {
            case 0 -> State.DEAD;
            case 1, 2 -> State.CUT;
            default -> State.PAUSED;
        };
        record(
                now,
                state == State.DEAD
                        ? Disturbed.Kind.KILLED
                        : state == State.CUT ? Disturbed.Kind.CUT : Disturbed.Kind.PAUSED);
    }

    private void heal(long now) {
        boolean expired = now - since >= DEADLINE;
        record(now, state == State.CUT ? Disturbed.Kind.HEALED : Disturbed.Kind.RESUMED);
        if (state == State.PAUSED && checkPending) {
            threads.forEach(thread -> thread.finishPendingCheck(since, now));
        }
        if (expired) {
            threads.forEach(thread -> thread.lose(now));
            threads.forEach(ModelThread::expire); // the session is abandoned
        }
        delayed.forEach(Runnable::run);
        delayed.clear();
        state = State.RUNNING;
        threads.forEach(ModelThread::renew);
    }

    private void record(long now, Disturbed.Kind kind) {
        events.add(new Disturbed(name, UncertainInstant.at(now), kind));
    }
}
