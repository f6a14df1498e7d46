// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd;

import io.grpc.netty.GrpcSslContexts;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.File;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLException;

/**
 * Opens lock clients for URLs such as {@code etcd://[user:password@]h1:2379,h2:2379}, and {@code etcds://} for TLS. One or
 * more members of the cluster are enough.
 *
 * <p>Parameters: {@code namespace} ({@code mortise/}), {@code lease} (15s), and with TLS {@code ca} (a PEM file with the
 * trusted certificates; default: those of the JVM), {@code cert} and {@code key} (PEM files with the client's own
 * certificate and key).
 */
public final class EtcdProvider implements LockProvider {
    private static final int DEFAULT_PORT = 2379;
    private static final String TLS = "etcds";

    /** Creates the provider; called by the service loader. */
    public EtcdProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("etcd", TLS);
    }

    @Override
    public Set<String> parameters() {
        return Set.of("namespace", "lease", "ca", "cert", "key");
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        return EtcdBackend.open(options(url), context);
    }

    static EtcdOptions options(LockUrl url) {
        try {
            if (url.path().length() > 1) {
                throw new IllegalArgumentException(
                        "the path is \"" + url.path() + "\", must be empty: the namespace is a parameter");
            }
            EtcdOptions options = EtcdOptions.connectTo(url.endpoints(DEFAULT_PORT).stream()
                    .map(LockUrl.Endpoint::toString)
                    .toList());
            if (url.text("namespace").isPresent()) {
                options = options.namespace(url.text("namespace").get());
            }
            if (url.duration("lease").isPresent()) {
                options = options.leaseDuration(url.duration("lease").get());
            }
            if (url.user().isPresent() || url.password().isPresent()) {
                options = options.credentials(
                        url.user().orElse(""), url.password().orElse(""));
            }
            return url.scheme().equals(TLS) ? withTls(url, options) : withoutTls(url, options);
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(url + ": " + e.getMessage(), e);
        }
    }

    /** The files are read again for each new client, since certificates are renewed. */
    private static EtcdOptions withTls(LockUrl url, EtcdOptions options) {
        tls(url);
        return options.tls(() -> tls(url));
    }

    private static EtcdOptions withoutTls(LockUrl url, EtcdOptions options) {
        for (String parameter : List.of("ca", "cert", "key")) {
            if (url.text(parameter).isPresent()) {
                throw new IllegalArgumentException(parameter + " needs TLS: use " + TLS + "://");
            }
        }
        return options;
    }

    private static SslContext tls(LockUrl url) {
        Optional<File> ca = file(url, "ca");
        Optional<File> cert = file(url, "cert");
        Optional<File> key = file(url, "key");
        if (cert.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException((cert.isPresent() ? "cert" : "key") + " is given without "
                    + (cert.isPresent() ? "key" : "cert") + ", must be both or none");
        }
        SslContextBuilder builder = GrpcSslContexts.forClient();
        try {
            ca.ifPresent(builder::trustManager);
            cert.ifPresent(certificate -> builder.keyManager(certificate, key.orElseThrow()));
            return builder.build();
        } catch (SSLException | IllegalArgumentException e) {
            throw new IllegalArgumentException("ca, cert or key cannot be used: " + e.getMessage(), e);
        }
    }

    private static Optional<File> file(LockUrl url, String parameter) {
        Optional<File> pem = url.text(parameter).map(File::new);
        pem.filter(file -> !file.isFile() || !file.canRead()).ifPresent(file -> {
            throw new IllegalArgumentException(parameter + " names a file that cannot be read");
        });
        return pem;
    }
}
