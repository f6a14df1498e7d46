// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.redis.client.RedisUrlSettingsParser;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Opens the Redis backend for a URL that names one server, sentinels or a cluster.
 *
 * <p>{@code redis://[[user]:password@]host:6379/database}; {@code redis-socket:///path/of/socket?db=0}; {@code
 * redis-sentinel://[[user]:password@]sentinel1:26379,sentinel2/database?master=NAME}, with the credentials of the master;
 * {@code redis-cluster://[[user]:password@]node1:6379,node2}, where one node that responds is enough. With TLS: {@code rediss},
 * {@code rediss-sentinel} and {@code rediss-cluster}.
 *
 * <p>Parameters: {@code prefix} ({@code lock:}), {@code lease} (30s), {@code db} (as the path), {@code waitReplicas} (0, see
 * {@link RedisOptions#waitReplicas}), and with TLS {@code verifyPeer} ({@code full}, the default, {@code ca} or {@code none})
 * and {@code trustedCertificates} (a PEM file).
 */
public final class RedisProvider implements LockProvider {
    private static final int DEFAULT_PORT = 6379;
    private static final int DEFAULT_SENTINEL_PORT = 26379;

    /** Creates the provider; called by the service loader. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of(
                "redis",
                "rediss",
                "redis-socket",
                "redis-sentinel",
                "rediss-sentinel",
                "redis-cluster",
                "rediss-cluster");
    }

    @Override
    public Set<String> parameters() {
        return Set.of("prefix", "lease", "db", "verifyPeer", "trustedCertificates", "master", "waitReplicas");
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        return RedisBackend.open(options(url), context);
    }

    static RedisOptions options(LockUrl url) {
        try {
            RedisOptions options = url.scheme().endsWith("-cluster")
                    ? RedisOptions.connectToCluster(nodes(url))
                    : RedisOptions.connectTo(uri(url).build());
            if (url.text("prefix").isPresent()) {
                options = options.prefix(url.text("prefix").get());
            }
            if (url.duration("lease").isPresent()) {
                options = options.leaseDuration(url.duration("lease").get());
            }
            options = options.waitReplicas(
                    url.integer("waitReplicas", 0, RedisOptions.MOST_REPLICAS).orElse(0));
            Optional<SslOptions> trusted = RedisUrlSettingsParser.sslOptions(url);
            if (trusted.isPresent()) {
                options = options.sslOptions(trusted.get());
            }
            return options;
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(url + ": " + e.getMessage(), e);
        }
    }

    private static List<RedisURI> nodes(LockUrl url) {
        List<RedisURI> nodes = new ArrayList<>();
        for (LockUrl.Endpoint node : url.endpoints(DEFAULT_PORT)) {
            nodes.add(uri(url, RedisURI.Builder.redis(RedisUrlSettingsParser.plain(node.host()), node.port()))
                    .build());
        }
        return nodes;
    }

    private static RedisURI.Builder uri(LockUrl url) {
        if (url.scheme().equals("redis-socket")) {
            if (url.path().length() < 2) {
                throw new IllegalArgumentException("the URL names no socket: expected redis-socket:///path/of/socket");
            }
            return uri(url, RedisURI.Builder.socket(url.path()));
        }
        return uri(url, url.scheme().endsWith("-sentinel") ? sentinels(url) : tcp(url));
    }

    private static RedisURI.Builder uri(LockUrl url, RedisURI.Builder uri) {
        if (url.text("master").isPresent() && !url.scheme().endsWith("-sentinel")) {
            throw new IllegalArgumentException("master needs redis-sentinel://");
        }
        boolean tls = url.scheme().startsWith("rediss");
        return RedisUrlSettingsParser.access(url, tls, "rediss", uri).withDatabase(database(url));
    }

    private static RedisURI.Builder sentinels(LockUrl url) {
        RedisURI.Builder uri = RedisURI.builder()
                .withSentinelMasterId(url.text("master")
                        .filter(name -> !name.isEmpty())
                        .orElseThrow(() -> new IllegalArgumentException(
                                "the URL names no master: expected ?master=NAME, as the sentinels know it")));
        url.endpoints(DEFAULT_SENTINEL_PORT)
                .forEach(sentinel -> uri.withSentinel(RedisUrlSettingsParser.plain(sentinel.host()), sentinel.port()));
        return uri;
    }

    private static RedisURI.Builder tcp(LockUrl url) {
        List<LockUrl.Endpoint> hosts = url.endpoints(DEFAULT_PORT);
        if (hosts.size() > 1) {
            throw new IllegalArgumentException("the URL names " + hosts.size() + " hosts, must name one");
        }
        return RedisURI.Builder.redis(
                RedisUrlSettingsParser.plain(hosts.get(0).host()), hosts.get(0).port());
    }

    private static int database(LockUrl url) {
        return RedisUrlSettingsParser.database(url, url.scheme().equals("redis-socket") ? "" : url.path());
    }
}
