// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

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
 * Opens Redlock clients from URLs such as {@code redlock://master1:6379,master2,master3}.
 *
 * <p>The full form is {@code redlock://[[user]:password@]master1:6379,master2,master3/database}; {@code redlocks} uses TLS.
 * Credentials and database are the same for all masters; for masters that differ see {@link RedlockLocks}.
 *
 * <p>Parameters: {@code prefix} ({@code lock:}), {@code lease} (30s, or {@code maxLease} if that is shorter), {@code maxLease}
 * (30s), {@code nodeTimeout} (500ms), {@code testOnlyNewMasters} (false), {@code db} (alternative to the path), and with TLS
 * {@code verifyPeer} ({@code full}, the default, {@code ca} or {@code none}) and {@code trustedCertificates} (a PEM file). See
 * {@link RedlockOptions}.
 */
public final class RedlockProvider implements LockProvider {
    private static final int DEFAULT_PORT = 6379;

    /** Called by the service loader. */
    public RedlockProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redlock", "redlocks");
    }

    @Override
    public Set<String> parameters() {
        return Set.of(
                "prefix",
                "lease",
                "maxLease",
                "nodeTimeout",
                "db",
                "verifyPeer",
                "trustedCertificates",
                "testOnlyNewMasters");
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        return RedlockBackend.open(options(url), context);
    }

    static RedlockOptions options(LockUrl url) {
        try {
            RedlockOptions options = RedlockOptions.connectTo(masters(url));
            if (url.text("prefix").isPresent()) {
                options = options.prefix(url.text("prefix").get());
            }
            if (url.duration("lease").isPresent()) {
                options = options.leaseDuration(url.duration("lease").get());
            }
            if (url.duration("maxLease").isPresent()) {
                options = options.maxLease(url.duration("maxLease").get());
            }
            if (url.flag("testOnlyNewMasters").orElse(false)) {
                options = options.testOnlyNewMasters();
            }
            if (url.duration("nodeTimeout").isPresent()) {
                options = options.nodeTimeout(url.duration("nodeTimeout").get());
            }
            options.check();
            Optional<SslOptions> trusted = RedisUrlSettingsParser.sslOptions(url);
            return trusted.isPresent() ? options.sslOptions(trusted.get()) : options;
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(url + ": " + e.getMessage(), e);
        }
    }

    private static List<RedisURI> masters(LockUrl url) {
        boolean tls = url.scheme().equals("redlocks");
        int database = RedisUrlSettingsParser.database(url, url.path());
        List<RedisURI> masters = new ArrayList<>();
        for (LockUrl.Endpoint master : url.endpoints(DEFAULT_PORT)) {
            RedisURI.Builder uri = RedisURI.Builder.redis(RedisUrlSettingsParser.plain(master.host()), master.port());
            masters.add(RedisUrlSettingsParser.access(url, tls, "redlocks", uri)
                    .withDatabase(database)
                    .build());
        }
        return masters;
    }
}
