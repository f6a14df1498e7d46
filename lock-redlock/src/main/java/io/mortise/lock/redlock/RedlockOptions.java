// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.mortise.lock.redis.node.ManagedRedisUri;
import io.mortise.lock.redis.node.OptionLimits;
import io.mortise.lock.redis.node.RedisAccessCheck;
import io.mortise.lock.spi.AccessCheck;
import io.mortise.lock.spi.BackendContext;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Which masters vote, and how to reach them. Immutable: each method returns a changed copy. Never prints credentials. */
public final class RedlockOptions {
    /** What all keys begin with unless said otherwise. */
    public static final String DEFAULT_PREFIX = "lock:";

    /** How long a grant lasts without renewal unless said otherwise, or {@link #maxLease} is shorter. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    /** The longest lease that any client may ask for unless said otherwise. */
    public static final Duration DEFAULT_MAX_LEASE = Duration.ofSeconds(30);

    /** How long one master is waited for unless said otherwise. */
    public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(500);

    /** A master that answers so late has used up so much of each lease: more cannot be of use. */
    private static final int NODE_TIMEOUTS_PER_LEASE = 4;

    private static final Duration SHORTEST_NODE_TIMEOUT = Duration.ofMillis(10);

    private final List<RedisURI> uris;
    private final List<RedisClient> clients;
    private String prefix = DEFAULT_PREFIX;
    private Optional<Duration> leaseDuration = Optional.empty();
    private Duration maxLease = DEFAULT_MAX_LEASE;
    private Duration nodeTimeout = DEFAULT_NODE_TIMEOUT;
    private boolean testOnlyNewMasters;
    private Optional<SslOptions> sslOptions = Optional.empty();

    private RedlockOptions(List<RedisURI> uris, List<RedisClient> clients) {
        Quorum.check(uris.size() + clients.size());
        this.uris = uris;
        this.clients = clients;
    }

    private RedlockOptions with(Consumer<RedlockOptions> change) {
        RedlockOptions copy = new RedlockOptions(uris, clients);
        copy.prefix = prefix;
        copy.leaseDuration = leaseDuration;
        copy.maxLease = maxLease;
        copy.nodeTimeout = nodeTimeout;
        copy.testOnlyNewMasters = testOnlyNewMasters;
        copy.sslOptions = sslOptions;
        change.accept(copy);
        return copy;
    }

    /**
     * Connections of Mortise's own, one to each master, with TLS, credentials and database as each URI says. The masters must
     * be independent of each other: no replicas of one another, no common disk or power supply.
     *
     * @param masters at least three, the same for all clients; an odd number, since one more makes nothing safer
     */
    public static RedlockOptions connectTo(List<RedisURI> masters) {
        Objects.requireNonNull(masters, "masters");
        for (RedisURI master : masters) {
            if (!master.getSentinels().isEmpty() || (master.getHost() == null && master.getSocket() == null)) {
                throw new IllegalArgumentException("masters must each name one host and port, or a socket");
            }
        }
        List<RedisURI> own =
                masters.stream().<RedisURI>map(ManagedRedisUri::new).toList();
        if (own.stream().map(RedlockOptions::server).distinct().count() < own.size()) {
            throw new IllegalArgumentException("masters name one server twice, which would have two votes: "
                    + own.stream().map(RedlockOptions::endpoint).collect(Collectors.joining(", ")));
        }
        return new RedlockOptions(own, List.of());
    }

    /**
     * The application's own clients, one for each master, which Mortise never closes: it opens one connection of its own with
     * each. They must have been created with a {@code RedisURI}, and their options must not pin RESP2.
     *
     * @param masters at least three, all clients of applications with the same masters
     */
    public static RedlockOptions using(List<RedisClient> masters) {
        Objects.requireNonNull(masters, "masters");
        if (masters.stream().distinct().count() < masters.size()) {
            throw new IllegalArgumentException("masters has one client twice, which would have two votes");
        }
        return new RedlockOptions(List.of(), List.copyOf(masters));
    }

    /**
     * What all keys begin with, 1 to 256 printable ASCII characters without spaces, braces and percent signs: the lock {@code
     * x} is the key {@code lock:x} to other libraries. Default {@value #DEFAULT_PREFIX}.
     */
    public RedlockOptions prefix(String start) {
        OptionLimits.checkPrefix(start);
        return with(copy -> copy.prefix = start);
    }

    /**
     * How long masters keep the lock of a silent client, for locks that do not say so themselves. 1 s to {@link #maxLease},
     * default 30 s, or {@link #maxLease} if that is shorter.
     */
    public RedlockOptions leaseDuration(Duration lease) {
        OptionLimits.checkLease("leaseDuration", lease);
        return with(copy -> copy.leaseDuration = Optional.of(lease));
    }

    /**
     * The longest lease of any lock, the same for all clients with these masters and this prefix: a client with another value is
     * refused. A master that is new, was restarted or has lost its data votes only after so long, since it may have forgotten
     * such a lease; a lock with a longer lease is refused with {@link IllegalArgumentException}. 1 s to 1 h, whole
     * milliseconds, default 30 s.
     */
    public RedlockOptions maxLease(Duration longest) {
        OptionLimits.checkLease("maxLease", longest);
        if (!longest.equals(Duration.ofMillis(longest.toMillis()))) {
            throw new IllegalArgumentException("maxLease is " + longest + ", must be whole milliseconds");
        }
        return with(copy -> copy.maxLease = longest);
    }

    /**
     * For tests that start masters of their own: while this client connects, masters are taken for new and vote at once if
     * all of them answer and none has any data. <b>Never in production:</b> masters that have just lost their data look the same,
     * and then two clients can hold one lock. Logged as a warning each time.
     */
    public RedlockOptions testOnlyNewMasters() {
        return with(copy -> copy.testOnlyNewMasters = true);
    }

    /**
     * How long one master is waited for. A master that stands still delays nothing while a majority answers. At least 10 ms,
     * default 500 ms; never more than a quarter of {@link #leaseDuration}, nor than half of the client's request timeout. A lock
     * whose own lease is shorter than four node timeouts is refused with {@link IllegalArgumentException}.
     */
    public RedlockOptions nodeTimeout(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.compareTo(SHORTEST_NODE_TIMEOUT) < 0) {
            throw new IllegalArgumentException(
                    "nodeTimeout is " + timeout + ", must be at least " + SHORTEST_NODE_TIMEOUT);
        }
        return with(copy -> copy.nodeTimeout = timeout);
    }

    /** Trusted and own certificates, for URIs with TLS. Ignored with {@link #using}. */
    public RedlockOptions sslOptions(SslOptions options) {
        Objects.requireNonNull(options, "options");
        return with(copy -> copy.sslOptions = Optional.of(options));
    }

    int size() {
        return uris.size() + clients.size();
    }

    List<RedisURI> uris() {
        return uris;
    }

    List<RedisClient> clients() {
        return clients;
    }

    String prefix() {
        return prefix;
    }

    /** Not above a shorter {@link #maxLease}, unless it was said. */
    Duration leaseDuration() {
        return leaseDuration.orElse(maxLease.compareTo(DEFAULT_LEASE) < 0 ? maxLease : DEFAULT_LEASE);
    }

    Duration maxLease() {
        return maxLease;
    }

    boolean isTestOnlyNewMasters() {
        return testOnlyNewMasters;
    }

    /** What no option alone can tell. */
    void check() {
        checkMaxLease(leaseDuration());
    }

    /** A master that forgets it would vote while it stands. */
    void checkMaxLease(Duration lease) {
        if (lease.compareTo(maxLease) > 0) {
            throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at most " + maxLease
                    + ", the maxLease of this client: for longer leases set maxLease to " + lease
                    + " or more, for all clients with these masters");
        }
    }

    /** The outcome must be known within a request timeout of the client. */
    Duration nodeTimeout(BackendContext context) {
        Duration most = leaseDuration().dividedBy(NODE_TIMEOUTS_PER_LEASE);
        Duration half = context.requestTimeout().dividedBy(2);
        most = half.compareTo(most) < 0 ? half : most;
        return nodeTimeout.compareTo(most) < 0 ? nodeTimeout : most;
    }

    /** A master that is waited for must leave most of the lease. */
    void checkLease(Duration lease, Duration waited) {
        Duration least = waited.multipliedBy(NODE_TIMEOUTS_PER_LEASE);
        if (lease.compareTo(least) < 0) {
            throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at least " + least
                    + ", four times nodeTimeout: for shorter leases set nodeTimeout to "
                    + lease.dividedBy(NODE_TIMEOUTS_PER_LEASE) + " or less");
        }
    }

    Optional<SslOptions> sslOptions() {
        return sslOptions;
    }

    /** Who can reach the locks, as far as the options tell. */
    Optional<AccessCheck> access() {
        return RedisAccessCheck.of(toString(), uris, sslOptions.isPresent());
    }

    /** Of each master, without secrets. */
    List<String> endpoints() {
        return uris.isEmpty()
                ? clients.stream()
                        .map(client -> "redis://(the application's client " + (clients.indexOf(client) + 1) + ")")
                        .toList()
                : uris.stream().map(RedlockOptions::endpoint).toList();
    }

    /** All masters as a URL names them, if one can. */
    @Override
    public String toString() {
        List<String> endpoints = endpoints();
        String first = endpoints.get(0);
        String scheme = first.substring(0, first.indexOf("://") + 3);
        boolean same = endpoints.stream().allMatch(endpoint -> endpoint.matches(scheme + "[^/]+:\\d+"));
        return same
                ? (scheme.equals("rediss://") ? "redlocks://" : "redlock://")
                        + endpoints.stream()
                                .map(endpoint -> endpoint.substring(scheme.length()))
                                .collect(Collectors.joining(","))
                : "redlock of " + String.join(",", endpoints);
    }

    /** Whatever the database and the credentials: that is one process, which restarts and fails as one. */
    private static String server(RedisURI uri) {
        return uri.getSocket() != null ? uri.getSocket() : uri.getHost().toLowerCase(Locale.ROOT) + ":" + uri.getPort();
    }

    private static String endpoint(RedisURI uri) {
        String scheme = uri.isSsl() ? "rediss" : "redis";
        return uri.getSocket() != null
                ? "redis-socket://" + uri.getSocket() + (uri.getDatabase() == 0 ? "" : "?db=" + uri.getDatabase())
                : scheme + "://" + uri.getHost() + ":" + uri.getPort()
                        + (uri.getDatabase() == 0 ? "" : "/" + uri.getDatabase());
    }
}
