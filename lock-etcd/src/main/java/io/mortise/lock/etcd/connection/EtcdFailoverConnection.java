// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.Client;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.MonotonicTime;
import io.mortise.lock.spi.support.ConnectDeadline;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to a cluster: one member's client at a time, replaced when that member is silent. Our own is connected to one
 * member of the cluster at a time. It is made anew for the next member when this one cannot be reached, is silent, or serves
 * no requests: one that was stopped leaves its connections open, and gRPC notices that after 15 s; one that is cut off from
 * the others still talks. Sessions live on in the store and go on with the next client (ADR 0035).
 *
 * <p>gRPC waits longer and longer between its tries to connect, up to two minutes, and jetcd has no say in it: after an outage
 * a new client finds the server at once.
 *
 * <p>Later look-ups of names are gRPC's own: jetcd's resolver holds up the thread on which gRPC noticed that a connection broke
 * until the system has answered, and with it answers and deadlines that this thread keeps. Waits, leases and renewals end by
 * the core's timer.
 */
public final class EtcdFailoverConnection {
    private static final Logger log = LoggerFactory.getLogger(EtcdFailoverConnection.class);

    /** So long without any answer, since the first request that found no server. */
    private static final Duration FAILOVER_DELAY = Duration.ofSeconds(2);

    private static final Duration SHORTEST_UNRELATED = Duration.ofSeconds(10);

    private final EtcdSettings settings;
    private final BackendContext context;
    private final boolean owned;

    /** A failure that long after the one before has nothing to do with it; renewals of a long lease are far apart. */
    private final Duration unrelated;

    private final RequestTryTimeout tries;
    private final OutageLog outage;
    private volatile @Nullable EtcdMemberConnection inUse; // null until it is open
    private volatile boolean failing;

    /** How many clients were made for other members since the last answer. */
    private volatile int moves;

    /** Since when the member in use serves no request; null if it does. Changed under the monitor. */
    private volatile @Nullable MonotonicTime unservedSince;

    /** Index of the member that is in use, or about to be. */
    @GuardedBy("this")
    private int member;

    @GuardedBy("this")
    private MonotonicTime failingSince; // if failing

    @GuardedBy("this")
    private MonotonicTime failedLast; // if failing

    @GuardedBy("this")
    private boolean replacing;

    @GuardedBy("this")
    private boolean closed;

    public EtcdFailoverConnection(EtcdSettings settings, BackendContext context) {
        this.settings = settings;
        this.context = context;
        this.owned = settings.client().isEmpty();
        this.unrelated = Durations.longer(settings.leaseDuration(), SHORTEST_UNRELATED);
        this.failingSince = context.clock().now();
        this.failedLast = failingSince;
        this.outage = new OutageLog(context.clock());
        this.tries = hasOtherMembers()
                ? RequestTryTimeout.parted(context.clock(), context.requestTimeout(), settings.leaseDuration())
                : RequestTryTimeout.whole(context.clock(), context.requestTimeout());
        this.member = hasOtherMembers()
                ? ThreadLocalRandom.current().nextInt(settings.endpointList().size())
                : 0;
    }

    /** Makes the client; no server need answer. Waits at most for the connect timeout, for names that must be looked up. */
    public void open() {
        CompletableFuture<Void> opening = CompletableFuture.runAsync(() -> publish(fresh()), context.blocking());
        Duration limit = context.connectTimeout();
        String missing = settings.credentials().isPresent() ? "no answer from " : "no address found for ";
        ConnectDeadline.of(endpoints(), limit)
                .orSay(() -> missing + endpoints() + " in " + limit.toMillis() + " ms")
                .await(opening, failure -> EtcdErrors.of(failure, "connect", endpoints()));
    }

    private EtcdMemberConnection fresh() {
        return new EtcdMemberConnection(settings, target(), tries, context, this::leave);
    }

    private synchronized List<String> target() {
        return hasOtherMembers() ? List.of(settings.endpointList().get(member)) : settings.endpointList();
    }

    private void publish(EtcdMemberConnection made) {
        @Nullable EtcdMemberConnection old;
        synchronized (this) {
            old = closed ? made : inUse;
            if (!closed) {
                inUse = made;
                failing = false;
                unservedSince = null;
            }
            replacing = false;
        }
        if (old != null) {
            old.close();
        }
    }

    Client client() {
        return inUse().client();
    }

    EtcdMemberConnection inUse() {
        EtcdMemberConnection open = inUse;
        if (open == null) {
            throw new BackendUnavailableException("no connection to " + endpoints() + " was made yet");
        }
        return open;
    }

    /** Whether its requests end by themselves after a request timeout. */
    boolean hasDeadlines() {
        return owned;
    }

    /** Whether another member may answer what this one does not. */
    boolean hasOtherMembers() {
        return owned && settings.endpointList().size() > 1;
    }

    String endpoints() {
        return settings.endpoints();
    }

    /** A request was served, or refused for what it was. */
    void answered(EtcdMemberConnection asked, MonotonicTime sent) {
        asked.heard();
        tries.answered(sent);
        if (unservedSince != null) {
            served(asked);
        }
        if (failing) {
            failing = false;
        }
        if (moves > 0 && asked == inUse) {
            moves = 0;
        }
        outage.end(endpoints());
    }

    private synchronized void served(EtcdMemberConnection asked) {
        if (asked == inUse) {
            unservedSince = null;
        }
    }

    /** A request had no answer in time. If nothing else was heard either, the member is silent. */
    void late(EtcdMemberConnection asked, MonotonicTime sent) {
        tries.late(sent);
        if (!asked.wasHeardSince(sent)) {
            leave(asked);
        } else {
            unserved(asked, sent, RequestTryTimeout.AN_ELECTION);
        }
    }

    /** The member said that it knows no leader: there is an election, or it is cut off from the others. */
    void leaderless(EtcdMemberConnection asked) {
        asked.heard();
        unserved(asked, context.clock().now(), tries.part());
    }

    /**
     * A request was not served.
     *
     * @param delay for the member, while there is one that may do better
     */
    private void unserved(EtcdMemberConnection asked, MonotonicTime from, Duration delay) {
        synchronized (this) {
            if (asked != inUse) {
                return;
            }
            MonotonicTime since = unservedSince;
            if (since == null) {
                since = from;
                unservedSince = since;
            }
            Duration most = haveAllFailed() ? context.requestTimeout() : delay;
            if (context.clock().since(since).compareTo(most) < 0) {
                return;
            }
        }
        leave(asked);
    }

    /** For the next member, if there is one. */
    private void leave(EtcdMemberConnection left) {
        boolean first;
        boolean allHaveFailed;
        synchronized (this) {
            if (closed || replacing || left != inUse || !hasOtherMembers()) {
                return;
            }
            replacing = true;
            first = moves == 0;
            allHaveFailed = haveAllFailed();
        }
        if (first) {
            log.info("event=member-left member={} hint=\"silent, or cut off from the others\"", left.endpoints());
        }
        if (allHaveFailed) {
            outage.begin(endpoints(), "no member serves requests");
        }
        startReplacing();
    }

    /** A request found no server. */
    void broken(EtcdMemberConnection asked, Throwable cause) {
        if (!owned) {
            return;
        }
        boolean replaces;
        synchronized (this) {
            MonotonicTime now = context.clock().now();
            if (closed || replacing || asked != inUse) {
                return;
            }
            if (!failing || failedLast.until(now).compareTo(unrelated) > 0) {
                failing = true;
                failingSince = now;
            }
            failedLast = now;
            replaces = !haveAllFailed() || failingSince.until(now).compareTo(FAILOVER_DELAY) >= 0;
            replacing = replaces;
        }
        outage.begin(endpoints(), EtcdErrors.text(cause));
        if (replaces) {
            startReplacing();
        }
    }

    /** Since the last answer, all members have been in use. */
    private boolean haveAllFailed() {
        return moves + 1 >= settings.endpointList().size();
    }

    private void startReplacing() {
        log.debug("event=reconnect endpoints={}", endpoints());
        try {
            context.blocking().execute(this::replace); // not here: it may be its own thread that tells us
        } catch (RejectedExecutionException e) {
            log.debug("event=reconnect-too-late endpoints={}", endpoints(), e); // the core has ended
        }
    }

    private void replace() {
        try {
            if (hasOtherMembers()) {
                next();
            }
            publish(fresh());
            context.renewNow(GrantValidity.class, session -> true); // the last tries may have used up much of its time
        } catch (RuntimeException | Error e) { // no threads left, say: that passes
            log.warn("event=reconnect-failed endpoints={}", endpoints(), e);
            synchronized (this) {
                replacing = false; // the next request that finds no server tries again
            }
        }
    }

    private synchronized void next() {
        moves = moves + 1;
        member = (member + 1) % settings.endpointList().size();
    }

    /** Does not wait. Idempotent; leaves a borrowed client open. */
    public void close() {
        EtcdMemberConnection last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = inUse;
        }
        if (last != null) {
            last.close();
        }
    }
}
