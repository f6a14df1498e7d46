// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ConfigException;

/**
 * Opens the ZooKeeper backend that a {@code zookeeper:} URL describes.
 *
 * <p>The form of the URL is {@code zookeeper://[user:password@]h1:2181,h2:2181/base}. Its path is the base path, which is
 * created if it is missing. Its parameters are {@code sessionTimeout} (default 15s), {@code chroot} (must exist), {@code acl}
 * ({@code open}, or {@code creator}, the default with a user) and {@code clientConfig} (a file of ZooKeeper client properties,
 * for TLS and SASL).
 */
public final class ZooKeeperProvider implements LockProvider {
    private static final int DEFAULT_PORT = 2181;

    /** Creates the provider; called by {@link java.util.ServiceLoader}. */
    public ZooKeeperProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("zookeeper");
    }

    @Override
    public Set<String> parameters() {
        return Set.of("sessionTimeout", "chroot", "acl", "clientConfig");
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        return ZooKeeperBackend.open(options(url), context);
    }

    static ZooKeeperOptions options(LockUrl url) {
        String hosts =
                url.endpoints(DEFAULT_PORT).stream().map(Object::toString).collect(Collectors.joining(","));
        try {
            ZooKeeperOptions options = ZooKeeperOptions.connectTo(hosts + chroot(url));
            if (url.path().length() > 1) {
                options = options.basePath(url.path());
            }
            if (url.duration("sessionTimeout").isPresent()) {
                options = options.sessionTimeout(url.duration("sessionTimeout").get());
            }
            if (url.user().isPresent()) {
                options = options.auth("digest", credentials(url, url.user().get()));
            }
            if (url.text("clientConfig").isPresent()) {
                options = options.clientConfig(
                        clientConfig(url.text("clientConfig").get()));
            }
            return acl(url, options);
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(url + ": " + e.getMessage(), e);
        }
    }

    private static byte[] credentials(LockUrl url, String user) {
        if (user.contains(":")) {
            throw new IllegalArgumentException(
                    "user is \"" + user + "\", must not contain a colon: the digest scheme does not allow it");
        }
        String password = url.password()
                .orElseThrow(() ->
                        new IllegalArgumentException("user \"" + user + "\" has no password, must be user:password"));
        return (user + ":" + password).getBytes(StandardCharsets.UTF_8);
    }

    private static String chroot(LockUrl url) {
        if (url.text("chroot").isEmpty()) {
            return "";
        }
        String chroot = url.text("chroot").get();
        if (!chroot.startsWith("/") || chroot.length() < 2) {
            throw new IllegalArgumentException("chroot is \"" + chroot + "\", must be a path such as /apps");
        }
        return chroot;
    }

    private static ZooKeeperOptions acl(LockUrl url, ZooKeeperOptions options) {
        String acl = url.text("acl").orElse(url.user().isPresent() ? "creator" : "open");
        return switch (acl) {
            case "open" -> options;
            case "creator" -> {
                if (url.user().isEmpty() && url.text("clientConfig").isEmpty()) {
                    throw new IllegalArgumentException(
                            "acl=creator needs a user in the URL, or a clientConfig with SASL or TLS");
                }
                yield options.acl(ZooDefs.Ids.CREATOR_ALL_ACL);
            }
            default -> throw new IllegalArgumentException("acl is \"" + acl + "\", must be open or creator");
        };
    }

    private static ZKClientConfig clientConfig(String file) {
        try {
            return new ZKClientConfig(Path.of(file));
        } catch (ConfigException e) {
            throw new IllegalArgumentException("clientConfig \"" + file + "\" cannot be read: " + e.getMessage(), e);
        }
    }
}
