// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.etcd.jetcd.Client;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.GrantValidity;
import io.mortise.lock.spi.MonotonicInstant;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.spi.support.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects to an etcd cluster through one member at a time, and switches to the next when that member fails.
 *
 * <p>A client that Mortise creates is connected to one member. It is replaced by a client for the next member when this one
 * cannot be reached, does not respond, or serves no requests. A stopped member leaves its connections open, which gRPC
 * notices after 15 s; a member that is cut off from the others still replies. Sessions live in the store and continue with
 * the next client. See ADR 0035.
 *
 * <p>gRPC increases the pause between its attempts to connect up to two minutes, and jetcd cannot change that, whereas a
 * new client finds the server at once after an outage.
 *
 * <p>Later name lookups are made by gRPC. jetcd's resolver blocks the thread on which gRPC noticed that a connection broke
 * until the lookup has completed, and with it the replies and deadlines of that thread. Waits, leases and renewals
 * therefore end by the core's timer.
 */
public final class EtcdFailoverConnection {
    private static final Logger log = LoggerFactory.getLogger(EtcdFailoverConnection.class);

    /**
     * The time for which requests must reach no server before the client is replaced, once every member has been tried.
     */
    private static final Duration FAILOVER_DELAY = Duration.ofSeconds(2);

    private static final Duration MIN_UNRELATED_AFTER = Duration.ofSeconds(10);

    private final EtcdSettings settings;
    private final BackendContext context;
    private final boolean managed;

    /** A failure that long after the previous one is unrelated to it; renewals of a long lease are far apart. */
    private final Duration unrelatedAfter;

    private final RequestTryTimeout tries;
    private final OutageLog outage;
    private volatile @Nullable EtcdMemberConnection current; // null until it is open
    private volatile boolean failing;

    /** The number of clients created for other members since the last reply. */
    private volatile int failovers;

    /** Since when the current member has served no request; null if it serves requests. Changed under the monitor. */
    private volatile @Nullable MonotonicInstant notServingSince;

    /** Index of the member that is in use, or about to be used. */
    @GuardedBy("this")
    private int member;

    @GuardedBy("this")
    private MonotonicInstant failingSince; // valid if failing

    @GuardedBy("this")
    private MonotonicInstant lastFailure; // valid if failing

    @GuardedBy("this")
    private boolean replacing;

    @GuardedBy("this")
    private boolean closed;

    public EtcdFailoverConnection(EtcdSettings settings, BackendContext context) {
        this.settings = settings;
        this.context = context;
        this.managed = settings.client().isEmpty();
        this.unrelatedAfter = Durations.longer(settings.leaseDuration(), MIN_UNRELATED_AFTER);
        this.failingSince = context.clock().now();
        this.lastFailure = failingSince;
        this.outage = new OutageLog(context.clock());
        this.tries = hasOtherMembers()
                ? RequestTryTimeout.forSeveralMembers(
                        context.clock(), context.requestTimeout(), settings.leaseDuration())
                : RequestTryTimeout.forSingleMember(context.clock(), context.requestTimeout());
        this.member = hasOtherMembers()
                ? ThreadLocalRandom.current().nextInt(settings.endpointList().size())
                : 0;
    }

    /**
     * Creates the client, which requires no response of a server. Waits at most for the connect timeout, for name lookups.
     */
    public void open() {
        CompletableFuture<Void> opening =
                CompletableFuture.runAsync(() -> publish(createMemberConnection()), context.blocking());
        Duration limit = context.connectTimeout();
        String missing = settings.credentials().isPresent() ? "no answer from " : "no address found for ";
        ConnectRetrier.of(endpoints(), limit)
                .withTimeoutMessage(() -> missing + endpoints() + " in " + limit.toMillis() + " ms")
                .await(opening, failure -> EtcdErrors.of(failure, "connect", endpoints()));
    }

    private EtcdMemberConnection createMemberConnection() {
        return new EtcdMemberConnection(settings, target(), tries, context, this::failOver);
    }

    private synchronized List<String> target() {
        return hasOtherMembers() ? List.of(settings.endpointList().get(member)) : settings.endpointList();
    }

    private void publish(EtcdMemberConnection created) {
        @Nullable EtcdMemberConnection old;
        synchronized (this) {
            old = closed ? created : current;
            if (!closed) {
                current = created;
                failing = false;
                notServingSince = null;
            }
            replacing = false;
        }
        if (old != null) {
            old.close();
        }
    }

    Client client() {
        return current().client();
    }

    EtcdMemberConnection current() {
        EtcdMemberConnection open = current;
        if (open == null) {
            throw new BackendUnavailableException("no connection to " + endpoints() + " has been opened yet");
        }
        return open;
    }

    /** Returns whether its requests end by themselves after a request timeout. With credentials they may wait for a token before. */
    boolean hasDeadlines() {
        return managed && settings.credentials().isEmpty();
    }

    /** Returns whether another member may respond when this one does not. */
    boolean hasOtherMembers() {
        return managed && settings.endpointList().size() > 1;
    }

    String endpoints() {
        return settings.endpoints();
    }

    /** Records that a request was served, or was refused because of its content. */
    void onReply(EtcdMemberConnection used, MonotonicInstant sent) {
        used.onServed();
        tries.onReply(sent);
        if (notServingSince != null) {
            markServing(used);
        }
        if (failing) {
            failing = false;
        }
        if (failovers > 0 && used == current) {
            failovers = 0;
        }
        outage.end(endpoints());
    }

    private synchronized void markServing(EtcdMemberConnection used) {
        if (used == current) {
            notServingSince = null;
        }
    }

    /** Records that a request timed out. If nothing else has arrived either, the member is unresponsive. */
    void onTimeout(EtcdMemberConnection used, MonotonicInstant sent) {
        tries.onTimeout(sent);
        if (!used.hasRespondedSince(sent)) {
            failOver(used);
        } else {
            onNotServed(used, sent, RequestTryTimeout.MAX_ELECTION);
        }
    }

    /**
     * Records that the member cannot serve requests: there is an election, it is cut off from the others, lags behind them, or is
     * a learner.
     */
    void onNotServed(EtcdMemberConnection used) {
        used.onResponse();
        onNotServed(used, context.clock().now(), tries.normal());
    }

    /**
     * Records that a request was not served.
     *
     * @param sent when the request was sent
     * @param limit how long the member may serve no request while another member may do better
     */
    private void onNotServed(EtcdMemberConnection used, MonotonicInstant sent, Duration limit) {
        synchronized (this) {
            if (used != current) {
                return;
            }
            MonotonicInstant since = notServingSince;
            if (since == null) {
                since = sent.orLater(used.lastServed()); // a later request may have been served meanwhile
                notServingSince = since;
            }
            Duration maxNotServing = haveAllMembersFailed() ? context.requestTimeout() : limit;
            if (context.clock().since(since).compareTo(maxNotServing) < 0) {
                return;
            }
        }
        failOver(used);
    }

    /** Switches to the next member, if there is one. */
    private void failOver(EtcdMemberConnection failed) {
        boolean first;
        boolean allMembersFailed;
        synchronized (this) {
            if (closed || replacing || failed != current || !hasOtherMembers()) {
                return;
            }
            replacing = true;
            first = failovers == 0;
            allMembersFailed = haveAllMembersFailed();
        }
        if (first) {
            log.info(
                    "event=member-left member={} hint=\"silent, cut off from the others, or lagging behind\"",
                    failed.endpoints());
        }
        if (allMembersFailed) {
            outage.begin(endpoints(), "no member serves requests");
        }
        startReplacing();
    }

    /** Records that a request reached no server. Returns whether another member, which has not failed, may do better. */
    boolean onDisconnected(EtcdMemberConnection used, Throwable cause) {
        if (!managed) {
            return false;
        }
        boolean othersMayServe;
        boolean replaces;
        synchronized (this) {
            MonotonicInstant now = context.clock().now();
            if (closed || replacing || used != current) {
                return hasOtherMembers();
            }
            if (!failing || lastFailure.until(now).compareTo(unrelatedAfter) > 0) {
                failing = true;
                failingSince = now;
            }
            lastFailure = now;
            othersMayServe = !haveAllMembersFailed();
            replaces = othersMayServe || failingSince.until(now).compareTo(FAILOVER_DELAY) >= 0;
            replacing = replaces;
        }
        outage.begin(endpoints(), EtcdErrors.summary(cause));
        if (replaces) {
            startReplacing();
        }
        return othersMayServe;
    }

    /** Returns whether all members have been in use since the last reply. */
    private boolean haveAllMembersFailed() {
        return failovers + 1 >= settings.endpointList().size();
    }

    private void startReplacing() {
        log.debug("event=reconnect endpoints={}", endpoints());
        try {
            context.blocking()
                    .execute(this::replace); // not on this thread, which may belong to the client that is replaced
        } catch (RuntimeException | Error e) {
            replacementFailed(e);
        }
    }

    private void replace() {
        try {
            boolean another = hasOtherMembers();
            if (another) {
                selectNextMember();
            }
            EtcdMemberConnection next = createMemberConnection();
            if (another) {
                countFailover(); // only now: a member without a client was not tried
            }
            publish(next);
            // The last tries may have used up much of the session's time.
            context.renewNow(GrantValidity.class, session -> true);
        } catch (RuntimeException | Error e) {
            replacementFailed(e);
        }
    }

    /** For example no threads are available, which passes: the next request that finds no server tries again. */
    private void replacementFailed(Throwable failure) {
        log.warn("event=reconnect-failed endpoints={}", endpoints(), failure);
        synchronized (this) {
            replacing = false;
        }
    }

    private synchronized void countFailover() {
        failovers = failovers + 1;
    }

    private synchronized void selectNextMember() {
        member = (member + 1) % settings.endpointList().size();
    }

    /** Closes the client without waiting; leaves an application-supplied client open. Idempotent. */
    public void close() {
        EtcdMemberConnection last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = current;
        }
        if (last != null) {
            last.close();
        }
    }
}
