// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.OptionsUtil;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.spi.LockClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lock as one session sees it: the keys in use, and while somebody waits or holds for long the one watch that all of them
 * share. The watch starts from now, since the server serves one that starts in the past from a slow loop; when it is known to
 * stand, one look at the queue closes the gap.
 *
 * <p>Nothing is called under its monitor: what is to be told is collected there, and told after.
 */
final class LockLine {
    /** One contender of this client, in the store. Returns at once. */
    interface Member {
        QueueView.Contender place();

        /** To be asked again: nobody is ahead any more, as far as can be seen from here, or the session is over. */
        void turn();

        /** Its key was deleted, and not by itself. */
        void gone();
    }

    private static final Logger log = LoggerFactory.getLogger(LockLine.class);

    /** For how long the watch outlasts its last listener: one who takes turns with others need not arm it each time. */
    private static final Duration LINGER = Duration.ofMillis(400);

    /** At least this, at most twice: a server that lost all watches at once does not get them all at once. */
    private static final Duration RETRY = Duration.ofMillis(300);

    private final EtcdCalls calls;
    private final LockClock clock;
    private final String contenders;
    private final ByteSequence range;
    private final ByteSequence rangeEnd;
    private final Op head;
    private final Op count;
    private final Consumer<LockLine> whenIdle;
    private final AcquireOrder order = new AcquireOrder();

    @GuardedBy("this")
    private int users;

    @GuardedBy("this")
    private final BitSet slots = new BitSet();

    @GuardedBy("this")
    private final Map<ByteSequence, Member> waiting = new HashMap<>();

    @GuardedBy("this")
    private final Map<ByteSequence, Member> holding = new HashMap<>();

    @GuardedBy("this")
    private final QueueView view = new QueueView();

    /** Who was told last that it is its turn: once is enough. */
    @GuardedBy("this")
    private QueueView.@Nullable Contender turned;

    @GuardedBy("this")
    private @Nullable Watching watching;

    @GuardedBy("this")
    private boolean lingering;

    @GuardedBy("this")
    private long lastUse;

    @GuardedBy("this")
    private boolean over;

    /** @param whenIdle told when it may be forgotten, if {@link #isIdle} says so still */
    LockLine(EtcdCalls calls, LockClock clock, String contenders, Consumer<LockLine> whenIdle) {
        this.calls = calls;
        this.clock = clock;
        this.contenders = contenders;
        this.range = EtcdKeys.bytes(contenders);
        this.rangeEnd = OptionsUtil.prefixEndOf(range);
        this.head = Requests.head(range, rangeEnd);
        this.count = Requests.count(range, rangeEnd);
        this.whenIdle = whenIdle;
    }

    /** What the keys of all contenders begin with. */
    String contenders() {
        return contenders;
    }

    /** Asks for the contender that came first: the holder. */
    Op head() {
        return head;
    }

    /** Asks how many contenders there are. */
    Op count() {
        return count;
    }

    /** In which acquires go. */
    AcquireOrder order() {
        return order;
    }

    /** A ticket begins to use it: the lowest slot that is free. */
    synchronized int enter() {
        users++;
        int slot = slots.nextClearBit(0);
        slots.set(slot);
        return slot;
    }

    /** One more slot for a ticket whose own turned out to be taken in the store; that one stays taken here. */
    synchronized int another() {
        int slot = slots.nextClearBit(0);
        slots.set(slot);
        return slot;
    }

    /** The ticket's key is certainly not in the store any more. */
    void leave(int slot) {
        synchronized (this) {
            users--;
            slots.clear(slot);
        }
        whenIdle.accept(this);
    }

    /** Nothing of it is in use. */
    synchronized boolean isIdle() {
        return users == 0 && watching == null;
    }

    /** From now on it hears of its turn, and of the deletion of its key. */
    void await(Member member) {
        join(member, false);
    }

    /** It holds the lock, for a while already: it hears of the deletion of its key. */
    void guard(Member member) {
        join(member, true);
    }

    private void join(Member member, boolean holds) {
        Watching opening = null;
        List<Runnable> told = new ArrayList<>();
        synchronized (this) {
            if (over) {
                return;
            }
            (holds ? holding : waiting).put(member.place().key(), member);
            if (watching == null) {
                opening = new Watching();
                watching = opening;
            } else if (watching.standing) {
                missing(told);
                turns(told);
            }
        }
        if (opening != null) {
            opening.open();
        }
        told.forEach(Runnable::run);
    }

    /** It has become the holder. Whether deletions of its key are told without more. */
    boolean granted(Member member) {
        List<Runnable> told = new ArrayList<>();
        synchronized (this) {
            ByteSequence key = member.place().key();
            boolean standing = watching != null && watching.standing;
            if (!waiting.remove(key, member) && !standing) {
                return false;
            }
            holding.put(key, member);
            if (standing) {
                missing(told);
            }
        }
        told.forEach(Runnable::run);
        return true;
    }

    /** It hears of nothing any more. */
    void forget(Member member) {
        boolean timer = false;
        synchronized (this) {
            ByteSequence key = member.place().key();
            waiting.remove(key, member);
            holding.remove(key, member);
            // Whoever was told that its key is gone is in none of them any more.
            if (watching != null && waiting.isEmpty() && holding.isEmpty()) {
                lastUse = clock.nanoTime();
                timer = !lingering;
                lingering = true;
            }
        }
        if (timer) {
            clock.schedule(LINGER, this::closeIfUnused);
        }
    }

    private void closeIfUnused() {
        Watching closing = null;
        synchronized (this) {
            lingering = false;
            if (watching != null && waiting.isEmpty() && holding.isEmpty()) {
                Duration unused = Duration.ofNanos(clock.nanoTime() - lastUse);
                if (unused.compareTo(LINGER) < 0) {
                    lingering = true;
                    clock.schedule(LINGER.minus(unused), this::closeIfUnused);
                    return;
                }
                closing = watching;
                watching = null;
            }
        }
        if (closing != null) {
            closing.close();
            whenIdle.accept(this);
        }
    }

    /** A watch heard its last: another one, as long as somebody needs it. */
    private void replace(Watching ended) {
        Watching next;
        synchronized (this) {
            if (watching != ended) {
                return;
            }
            next = waiting.isEmpty() && holding.isEmpty() ? null : new Watching();
            watching = next;
        }
        ended.close();
        if (next == null) {
            whenIdle.accept(this);
        } else {
            clock.schedule(RETRY.plusNanos(ThreadLocalRandom.current().nextLong(RETRY.toNanos())), next::open);
        }
    }

    /** The session is over: who waits hears of that, and nobody of anything more. */
    void end() {
        Watching closing;
        List<Member> left;
        synchronized (this) {
            over = true;
            closing = watching;
            watching = null;
            left = List.copyOf(waiting.values());
            waiting.clear();
            holding.clear();
        }
        if (closing != null) {
            closing.close();
        }
        order.open();
        left.forEach(Member::turn);
    }

    @GuardedBy("this")
    private void turns(List<Runnable> told) {
        view.head().ifPresent(head -> {
            Member first = waiting.get(head.key());
            if (first != null && first.place().equals(head) && !head.equals(turned)) {
                turned = head;
                told.add(first::turn);
            }
        });
    }

    /** Those whose keys were there when they joined, and are not any more. */
    @GuardedBy("this")
    private void missing(List<Runnable> told) {
        missing(waiting, view, told);
        missing(holding, view, told);
    }

    private static void missing(Map<ByteSequence, Member> members, QueueView view, List<Runnable> told) {
        members.values().removeIf(member -> {
            boolean missing = view.misses(member.place());
            if (missing) {
                told.add(member::gone);
            }
            return missing;
        });
    }

    @GuardedBy("this")
    private void apply(WatchResponse events, List<Runnable> told) {
        for (WatchEvent event : events.getEvents()) {
            KeyValue key = event.getKeyValue();
            if (event.getEventType() == WatchEvent.EventType.DELETE) {
                view.deleted(key.getKey(), key.getModRevision());
                deleted(waiting, key, told);
                deleted(holding, key, told);
            } else {
                view.put(key.getKey(), key.getCreateRevision(), key.getModRevision());
            }
        }
    }

    private static void deleted(Map<ByteSequence, Member> members, KeyValue key, List<Runnable> told) {
        Member member = members.get(key.getKey());
        if (member != null && member.place().since() < key.getModRevision()) { // else it was the one before in its slot
            members.remove(key.getKey());
            told.add(member::gone);
        }
    }

    /** One watch and what was seen of it. */
    private final class Watching implements KeyWatch.Listener {
        private @Nullable KeyWatch watch; // guarded by the line
        private boolean closed; // guarded by the line
        private boolean standing; // guarded by the line
        private final List<WatchResponse> early = new ArrayList<>(); // guarded by the line

        void open() {
            synchronized (LockLine.this) {
                if (closed) {
                    return;
                }
            }
            KeyWatch opened = KeyWatch.open(calls, range, WatchOption.builder().withRange(rangeEnd), this);
            boolean late;
            synchronized (LockLine.this) {
                watch = opened;
                late = closed;
            }
            if (late) {
                opened.close();
            }
        }

        void close() {
            KeyWatch closing;
            synchronized (LockLine.this) {
                closed = true;
                closing = watch;
            }
            if (closing != null) {
                closing.close();
            }
        }

        @Override
        public void created() {
            GetOption all =
                    GetOption.builder().withRange(rangeEnd).withKeysOnly(true).build();
            calls.get("a look at the queue of " + contenders, range, all).whenComplete((found, failure) -> {
                if (failure == null) {
                    looked(found);
                } else {
                    ended(failure);
                }
            });
        }

        private void looked(GetResponse found) {
            List<QueueView.Contender> line = new ArrayList<>();
            for (KeyValue one : found.getKvs()) {
                line.add(new QueueView.Contender(one.getKey(), one.getCreateRevision()));
            }
            List<Runnable> told = new ArrayList<>();
            synchronized (LockLine.this) {
                if (watching != this) {
                    return;
                }
                view.reset(found.getHeader().getRevision(), line);
                turned = null;
                standing = true;
                missing(told);
                for (WatchResponse events : early) {
                    apply(events, told);
                }
                early.clear();
                turns(told);
            }
            told.forEach(Runnable::run);
        }

        @Override
        public void changed(WatchResponse events) {
            List<Runnable> told = new ArrayList<>();
            synchronized (LockLine.this) {
                if (watching != this) {
                    return;
                }
                if (!standing) {
                    early.add(events);
                    return;
                }
                apply(events, told);
                turns(told);
            }
            told.forEach(Runnable::run);
        }

        @Override
        public void ended(Throwable cause) {
            log.info("event=watch-ended range={} cause=\"{}\"", contenders, cause.toString());
            replace(this);
        }
    }
}
