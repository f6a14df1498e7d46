// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.mortise.lock.spi.LockUrl;
import java.io.File;
import java.util.List;
import java.util.Optional;

/**
 * Parses the credentials, the database and the TLS settings in the URL of a Redis server. Throws {@link
 * IllegalArgumentException} if they are invalid.
 */
public final class RedisUrlSettingsParser {
    private static final int MOST_DATABASES = 1 << 20;

    private RedisUrlSettingsParser() {}

    /**
     * Adds TLS and credentials to a URI.
     *
     * @param tls whether the URL's scheme uses TLS
     * @param tlsScheme a scheme that uses TLS, for messages
     */
    public static RedisURI.Builder access(LockUrl url, boolean tls, String tlsScheme, RedisURI.Builder uri) {
        if (tls) {
            uri.withSsl(true).withVerifyPeer(verification(url.text("verifyPeer").orElse("full")));
        } else {
            for (String parameter : List.of("verifyPeer", "trustedCertificates")) {
                if (url.text(parameter).isPresent()) {
                    throw new IllegalArgumentException(parameter + " needs TLS, as " + tlsScheme + ":// has it");
                }
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
        return uri;
    }

    private static SslVerifyMode verification(String mode) {
        return switch (mode) {
            case "full" -> SslVerifyMode.FULL;
            case "ca" -> SslVerifyMode.CA;
            case "none" -> SslVerifyMode.NONE;
            default -> throw new IllegalArgumentException("verifyPeer is \"" + mode + "\", must be full, ca or none");
        };
    }

    /** Returns the TLS options of the parameter {@code trustedCertificates}, if it is present. */
    public static Optional<SslOptions> sslOptions(LockUrl url) {
        return url.text("trustedCertificates").map(file -> {
            File pem = new File(file);
            if (!pem.canRead()) {
                throw new IllegalArgumentException("trustedCertificates \"" + file + "\" cannot be read");
            }
            return SslOptions.builder().trustManager(pem).build();
        });
    }

    /**
     * Returns the number of the database.
     *
     * @param path the URL's path, which may name the database instead of the parameter {@code db}
     */
    public static int database(LockUrl url, String path) {
        String number = path.length() < 2 ? "" : path.substring(1);
        if (number.isEmpty()) {
            return url.integer("db", 0, MOST_DATABASES).orElse(0);
        }
        if (url.text("db").isPresent()) {
            throw new IllegalArgumentException("the database is in the path and in db=, must be in one of them");
        }
        if (!number.matches("\\d{1,6}")) {
            throw new IllegalArgumentException("the path is \"/" + number + "\", must be the number of a database");
        }
        return Integer.parseInt(number);
    }

    /** Returns a host name without the brackets of an IPv6 address, as Lettuce expects it. */
    public static String plain(String host) {
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }
}
