// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.mortise.lock.redis.admin.RedisExposureCheck;
import io.mortise.lock.redis.client.MasterLookupRedisUri;
import io.mortise.lock.redis.client.OptionLimits;
import io.mortise.lock.redlock.vote.Quorum;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.support.Durations;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Options of a Redlock client, such as its masters, key prefix and lease duration. Immutable: each method returns a changed
 * copy. Credentials are never printed.
 */
public final class RedlockOptions {
    /** Default prefix of all keys. */
    public static final String DEFAULT_PREFIX = "lock:";

    /** Default lease duration, unless {@link #maxLease} is shorter. */
    public static final Duration DEFAULT_LEASE = Duration.ofSeconds(30);

    /** Default of the longest lease that any client may request. */
    public static final Duration DEFAULT_MAX_LEASE = Duration.ofSeconds(30);

    /** Default time to wait for the reply of one master. */
    public static final Duration DEFAULT_NODE_TIMEOUT = Duration.ofMillis(500);

    /** Minimum number of node timeouts per lease: a slower master would use up too much of the lease. */
    private static final int NODE_TIMEOUTS_PER_LEASE = 4;

    private static final Duration MIN_NODE_TIMEOUT = Duration.ofMillis(10);

    private final List<RedisURI> uris;
    private final List<RedisClient> clients;
    private final Settings settings;

    /**
     * Values of all options except the masters.
     *
     * @param leaseDuration empty for the default, or for {@code maxLease} if that is shorter
     */
    private record Settings(
            String prefix,
            Optional<Duration> leaseDuration,
            Duration maxLease,
            Duration nodeTimeout,
            boolean testOnlyNewMasters,
            Optional<SslOptions> sslOptions) {
        static final Settings DEFAULTS = new Settings(
                DEFAULT_PREFIX, Optional.empty(), DEFAULT_MAX_LEASE, DEFAULT_NODE_TIMEOUT, false, Optional.empty());

        Settings withPrefix(String keyPrefix) {
            return new Settings(keyPrefix, leaseDuration, maxLease, nodeTimeout, testOnlyNewMasters, sslOptions);
        }

        Settings withLeaseDuration(Duration lease) {
            return new Settings(prefix, Optional.of(lease), maxLease, nodeTimeout, testOnlyNewMasters, sslOptions);
        }

        Settings withMaxLease(Duration longest) {
            return new Settings(prefix, leaseDuration, longest, nodeTimeout, testOnlyNewMasters, sslOptions);
        }

        Settings withNodeTimeout(Duration timeout) {
            return new Settings(prefix, leaseDuration, maxLease, timeout, testOnlyNewMasters, sslOptions);
        }

        Settings withTestOnlyNewMasters() {
            return new Settings(prefix, leaseDuration, maxLease, nodeTimeout, true, sslOptions);
        }

        Settings withSslOptions(SslOptions options) {
            return new Settings(prefix, leaseDuration, maxLease, nodeTimeout, testOnlyNewMasters, Optional.of(options));
        }
    }

    private RedlockOptions(List<RedisURI> uris, List<RedisClient> clients, Settings settings) {
        Quorum.check(uris.size() + clients.size());
        this.uris = uris;
        this.clients = clients;
        this.settings = settings;
    }

    private RedlockOptions with(Settings changed) {
        return new RedlockOptions(uris, clients, changed);
    }

    /**
     * Connects to each of these masters with one connection, with TLS, credentials and database from its URI. The masters must
     * be independent of each other: no replicas of one another, no common disk or power supply.
     *
     * @param masters at least three masters, the same for all clients; use an odd number, since one more master tolerates no
     *     more failures
     */
    public static RedlockOptions connectTo(List<RedisURI> masters) {
        Objects.requireNonNull(masters, "masters");
        for (RedisURI master : masters) {
            if (!master.getSentinels().isEmpty() || (master.getHost() == null && master.getSocket() == null)) {
                throw new IllegalArgumentException("each of the masters must name one host and port, or one socket");
            }
        }
        List<RedisURI> copies =
                masters.stream().<RedisURI>map(MasterLookupRedisUri::new).toList();
        if (copies.stream().map(RedlockOptions::server).distinct().count() < copies.size()) {
            throw new IllegalArgumentException("masters contain one server twice, which would have two votes: "
                    + copies.stream().map(RedlockOptions::endpoint).collect(Collectors.joining(", ")));
        }
        return new RedlockOptions(copies, List.of(), Settings.DEFAULTS);
    }

    /**
     * Uses existing clients of the application, one for each master. Mortise opens one connection with each client and never
     * closes the clients. They must have been created with a {@code RedisURI}, and their options must not pin RESP2.
     *
     * @param masters at least three clients; all applications that share locks must use the same masters
     */
    public static RedlockOptions using(List<RedisClient> masters) {
        Objects.requireNonNull(masters, "masters");
        if (masters.stream().distinct().count() < masters.size()) {
            throw new IllegalArgumentException("masters contain one client twice, which would have two votes");
        }
        return new RedlockOptions(List.of(), List.copyOf(masters), Settings.DEFAULTS);
    }

    /**
     * Sets the prefix of all keys: 1 to 256 printable ASCII characters without spaces, braces and percent signs. With the
     * default {@value #DEFAULT_PREFIX}, other libraries see the lock {@code x} as the key {@code lock:x}.
     */
    public RedlockOptions prefix(String keyPrefix) {
        OptionLimits.checkPrefix(keyPrefix);
        return with(settings.withPrefix(keyPrefix));
    }

    /**
     * Sets how long masters keep a lock that its client no longer renews, unless the lock has its own lease duration. From 1 s
     * to {@link #maxLease}; default 30 s, or {@link #maxLease} if that is shorter.
     */
    public RedlockOptions leaseDuration(Duration lease) {
        OptionLimits.checkLease("leaseDuration", lease);
        return with(settings.withLeaseDuration(lease));
    }

    /**
     * Sets the longest lease of any lock. It must be the same for all clients with these masters and this prefix: a client with
     * another value is rejected.
     *
     * <p>A master that is new, was restarted or has lost its data stays in quarantine for this time, since it may have
     * forgotten such a lease. A lock with a longer lease is rejected with {@link IllegalArgumentException}. From 1 s to 1 h in
     * whole milliseconds; default 30 s.
     */
    public RedlockOptions maxLease(Duration longest) {
        OptionLimits.checkLease("maxLease", longest);
        if (!longest.equals(Duration.ofMillis(longest.toMillis()))) {
            throw new IllegalArgumentException("maxLease is " + longest + ", must be whole milliseconds");
        }
        return with(settings.withMaxLease(longest));
    }

    /**
     * Skips the quarantine of new masters, for tests that start their own masters. While this client connects, masters vote at
     * once if all of them reply and none has any data. <b>Never in production:</b> masters that have just lost their data look
     * the same, and then two clients can hold one lock. Each use is logged as a warning.
     */
    public RedlockOptions testOnlyNewMasters() {
        return with(settings.withTestOnlyNewMasters());
    }

    /**
     * Sets how long to wait for the reply of one master. A stalled master causes no delay while a majority replies. At least 10
     * ms, default 500 ms; limited to a quarter of {@link #leaseDuration} and to half of the client's request timeout. A lock
     * whose own lease is shorter than four node timeouts is rejected with {@link IllegalArgumentException}.
     */
    public RedlockOptions nodeTimeout(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.compareTo(MIN_NODE_TIMEOUT) < 0) {
            throw new IllegalArgumentException("nodeTimeout is " + timeout + ", must be at least " + MIN_NODE_TIMEOUT);
        }
        return with(settings.withNodeTimeout(timeout));
    }

    /** Sets trusted and client certificates for URIs with TLS. Ignored with {@link #using}. */
    public RedlockOptions sslOptions(SslOptions options) {
        Objects.requireNonNull(options, "options");
        return with(settings.withSslOptions(options));
    }

    int masterCount() {
        return uris.size() + clients.size();
    }

    List<RedisURI> uris() {
        return uris;
    }

    List<RedisClient> clients() {
        return clients;
    }

    String prefix() {
        return settings.prefix;
    }

    /** Returns the default lease duration, which is at most {@link #maxLease} unless it was set explicitly. */
    Duration leaseDuration() {
        return settings.leaseDuration.orElse(Durations.shorter(maxLease(), DEFAULT_LEASE));
    }

    Duration maxLease() {
        return settings.maxLease;
    }

    boolean isTestOnlyNewMasters() {
        return settings.testOnlyNewMasters;
    }

    /** Checks the options that depend on each other. */
    void check() {
        checkMaxLease(leaseDuration());
    }

    /** Rejects a lease that would outlast the quarantine of a master that forgot it. */
    void checkMaxLease(Duration lease) {
        if (lease.compareTo(maxLease()) > 0) {
            throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at most " + maxLease()
                    + ", the maxLease of this client: for longer leases set maxLease to " + lease
                    + " or more, for all clients with these masters");
        }
    }

    /** Returns the node timeout, limited so that the outcome of a request is known within the client's request timeout. */
    Duration nodeTimeout(BackendContext context) {
        Duration leaseLimit = leaseDuration().dividedBy(NODE_TIMEOUTS_PER_LEASE);
        Duration requestLimit = context.requestTimeout().dividedBy(2);
        Duration limit = Durations.shorter(requestLimit, leaseLimit);
        return Durations.shorter(settings.nodeTimeout, limit);
    }

    /** Rejects a lease that the wait for one master could use up. */
    void checkLease(Duration lease, Duration effectiveNodeTimeout) {
        Duration min = effectiveNodeTimeout.multipliedBy(NODE_TIMEOUTS_PER_LEASE);
        if (lease.compareTo(min) < 0) {
            throw new IllegalArgumentException("leaseDuration is " + lease + ", must be at least " + min
                    + ", four times nodeTimeout: for shorter leases set nodeTimeout to "
                    + lease.dividedBy(NODE_TIMEOUTS_PER_LEASE) + " or less");
        }
    }

    Optional<SslOptions> sslOptions() {
        return settings.sslOptions;
    }

    /** Returns the check whether unauthorized clients can access the locks; empty for clients of the application. */
    Optional<StoreExposureCheck> exposureCheck() {
        return RedisExposureCheck.of(toString(), uris, settings.sslOptions.isPresent());
    }

    /** Returns the address of each master, without secrets. */
    List<String> endpoints() {
        return uris.isEmpty()
                ? clients.stream()
                        .map(client -> "redis://(the application's client " + (clients.indexOf(client) + 1) + ")")
                        .toList()
                : uris.stream().map(RedlockOptions::endpoint).toList();
    }

    /** Returns one URL for all masters if possible, else a list of their addresses. Contains no secrets. */
    @Override
    public String toString() {
        List<String> endpoints = endpoints();
        String first = endpoints.get(0);
        String scheme = first.substring(0, first.indexOf("://") + 3);
        boolean oneUrl = endpoints.stream().allMatch(endpoint -> endpoint.matches(scheme + "[^/]+:\\d+"));
        return oneUrl
                ? (scheme.equals("rediss://") ? "redlocks://" : "redlock://")
                        + endpoints.stream()
                                .map(endpoint -> endpoint.substring(scheme.length()))
                                .collect(Collectors.joining(","))
                : "redlock of " + String.join(",", endpoints);
    }

    /**
     * Returns the identity of the server process, without database and credentials: all databases of a process fail together.
     */
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
