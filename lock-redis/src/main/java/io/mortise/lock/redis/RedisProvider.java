// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.io.File;
import java.util.List;
import java.util.Set;

/**
 * {@code redis://[[user]:password@]host:6379/database}, {@code rediss://…} with TLS, {@code
 * redis-socket:///path/of/socket?db=0}. Parameters: {@code prefix} ({@code lock:}), {@code lease} (30s), {@code db} (as the
 * path), and with TLS {@code verifyPeer} ({@code full}, the default, {@code ca} or {@code none}) and {@code
 * trustedCertificates} (a PEM file).
 */
public final class RedisProvider implements LockProvider {
    private static final int DEFAULT_PORT = 6379;
    private static final int MOST_DATABASES = 1 << 20;

    /** For the service loader. */
    public RedisProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss", "redis-socket");
    }

    @Override
    public Set<String> parameters() {
        return Set.of("prefix", "lease", "db", "verifyPeer", "trustedCertificates");
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        return RedisBackend.open(options(url), context);
    }

    static RedisOptions options(LockUrl url) {
        try {
            RedisOptions options = RedisOptions.connectTo(uri(url));
            if (url.text("prefix").isPresent()) {
                options = options.prefix(url.text("prefix").get());
            }
            if (url.duration("lease").isPresent()) {
                options = options.leaseDuration(url.duration("lease").get());
            }
            if (url.text("trustedCertificates").isPresent()) {
                options = options.sslOptions(
                        trusting(url.text("trustedCertificates").get()));
            }
            return options;
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(url + ": " + e.getMessage(), e);
        }
    }

    private static RedisURI uri(LockUrl url) {
        boolean tls = url.scheme().equals("rediss");
        if (!tls) {
            for (String parameter : List.of("verifyPeer", "trustedCertificates")) {
                if (url.text(parameter).isPresent()) {
                    throw new IllegalArgumentException(parameter + " needs rediss://");
                }
            }
        }
        RedisURI.Builder uri;
        if (url.scheme().equals("redis-socket")) {
            if (url.path().length() < 2) {
                throw new IllegalArgumentException("it names no socket: expected redis-socket:///path/of/socket");
            }
            uri = RedisURI.Builder.socket(url.path());
        } else {
            uri = tcp(url).withSsl(tls);
            if (tls) {
                uri.withVerifyPeer(verification(url.text("verifyPeer").orElse("full")));
            }
        }
        url.password().ifPresent(password -> {
            if (url.user().isPresent()) {
                uri.withAuthentication(url.user().get(), password.toCharArray());
            } else {
                uri.withPassword(password.toCharArray());
            }
        });
        if (url.user().isPresent() && url.password().isEmpty()) {
            throw new IllegalArgumentException("the user has no password: expected user:password@, or :password@");
        }
        return uri.withDatabase(database(url)).build();
    }

    private static RedisURI.Builder tcp(LockUrl url) {
        List<LockUrl.Endpoint> hosts = url.endpoints(DEFAULT_PORT);
        if (hosts.size() > 1) {
            throw new IllegalArgumentException("it names " + hosts.size() + " hosts, must name one");
        }
        String host = hosts.get(0).host();
        boolean inBrackets = host.startsWith("[");
        return RedisURI.Builder.redis(
                inBrackets ? host.substring(1, host.length() - 1) : host,
                hosts.get(0).port());
    }

    private static int database(LockUrl url) {
        boolean socket = url.scheme().equals("redis-socket");
        String path = socket || url.path().length() < 2 ? "" : url.path().substring(1);
        if (path.isEmpty()) {
            return url.integer("db", 0, MOST_DATABASES).orElse(0);
        }
        if (url.text("db").isPresent()) {
            throw new IllegalArgumentException("the database is in the path and in db=, must be in one of them");
        }
        if (!path.matches("\\d{1,6}")) {
            throw new IllegalArgumentException("the path is \"/" + path + "\", must be the number of a database");
        }
        return Integer.parseInt(path);
    }

    private static SslVerifyMode verification(String mode) {
        return switch (mode) {
            case "full" -> SslVerifyMode.FULL;
            case "ca" -> SslVerifyMode.CA;
            case "none" -> SslVerifyMode.NONE;
            default -> throw new IllegalArgumentException("verifyPeer is \"" + mode + "\", must be full, ca or none");
        };
    }

    private static SslOptions trusting(String file) {
        File pem = new File(file);
        if (!pem.canRead()) {
            throw new IllegalArgumentException("trustedCertificates \"" + file + "\" cannot be read");
        }
        return SslOptions.builder().trustManager(pem).build();
    }
}
