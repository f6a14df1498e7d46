// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.zookeeper.session.ZooKeeperSettings;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.PathUtils;
import org.apache.zookeeper.data.ACL;

/** The options of a lock client on ZooKeeper. Immutable: each method returns a changed copy. Never prints credentials. */
public final class ZooKeeperOptions {
    /** The default base path, below which the lock nodes are created. */
    public static final String DEFAULT_BASE_PATH = "/locks";

    /** The session timeout that the client requests by default; the server may grant a different one. */
    public static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(15);

    private static final String RESERVED_PATH = "/zookeeper";
    private static final Duration MIN_SESSION_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration MAX_SESSION_TIMEOUT = Duration.ofHours(1);

    private final ZooKeeperSettings settings;

    private ZooKeeperOptions(ZooKeeperSettings settings) {
        this.settings = settings;
    }

    private static ZooKeeperOptions withDefaults(Optional<String> connectString, Optional<Supplier<ZooKeeper>> handle) {
        return new ZooKeeperOptions(new ZooKeeperSettings(
                connectString,
                handle,
                DEFAULT_BASE_PATH,
                DEFAULT_SESSION_TIMEOUT,
                List.copyOf(ZooDefs.Ids.OPEN_ACL_UNSAFE),
                List.of(),
                Optional.empty()));
    }

    /**
     * Returns options for a client that creates its own ZooKeeper handle.
     *
     * @param connectString the servers, as in {@code h1:2181,h2:2181/chroot}; the chroot, if any, must exist
     */
    public static ZooKeeperOptions connectTo(String connectString) {
        Objects.requireNonNull(connectString, "connectString");
        if (connectString.isBlank()) {
            throw new IllegalArgumentException("connectString is empty, must be host:port,…");
        }
        try {
            new ConnectStringParser(connectString);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "connectString is \"" + connectString + "\", must be host:port,…/chroot: " + e.getMessage(), e);
        }
        return withDefaults(Optional.of(connectString), Optional.empty());
    }

    /**
     * Returns options for a client that uses the application's own handle. Mortise never closes that handle.
     *
     * <p>Mortise calls the supplier when the client connects, and again after the handle's session has ended. A handle whose
     * session has expired cannot be used any more, so the supplier must then return a new one. The supplier must not block, and
     * need not wait until a new handle has connected. The handle's default watcher is left to the application. On such a handle
     * a waiter that gives up leaves a watch on the server until the watched node is deleted.
     *
     * @param handle supplies the handle
     */
    public static ZooKeeperOptions using(Supplier<ZooKeeper> handle) {
        Objects.requireNonNull(handle, "handle");
        return withDefaults(Optional.empty(), Optional.of(() -> suppliedHandle(handle)));
    }

    private static ZooKeeper suppliedHandle(Supplier<ZooKeeper> supplier) {
        ZooKeeper handle;
        try {
            handle = supplier.get();
        } catch (RuntimeException e) {
            throw new BackendUnavailableException("the application's supplier of a ZooKeeper handle failed: " + e, e);
        }
        if (handle == null) {
            throw new LockConfigurationException("the application's supplier of a ZooKeeper handle returned null");
        }
        return handle;
    }

    /**
     * Sets the node below which lock nodes are created. The node is created with the first lock if it is missing. Default
     * {@value #DEFAULT_BASE_PATH}.
     */
    public ZooKeeperOptions basePath(String path) {
        Objects.requireNonNull(path, "path");
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "basePath is \"" + path + "\", must be a path such as /locks: " + e.getMessage(), e);
        }
        if (path.equals(RESERVED_PATH) || path.startsWith(RESERVED_PATH + "/")) {
            throw new IllegalArgumentException(
                    "basePath is \"" + path + "\", must not be ZooKeeper's own " + RESERVED_PATH);
        }
        return new ZooKeeperOptions(settings.withBasePath(path));
    }

    /**
     * Sets the session timeout: how long the server keeps the locks of a client from which it receives nothing. The server
     * limits the value, by default to 2 to 20 of its ticks, and the negotiated timeout is used. Default 15 s. Ignored with
     * {@link #using}.
     */
    public ZooKeeperOptions sessionTimeout(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.compareTo(MIN_SESSION_TIMEOUT) < 0 || timeout.compareTo(MAX_SESSION_TIMEOUT) > 0) {
            throw new IllegalArgumentException("sessionTimeout is " + timeout + ", must be from " + MIN_SESSION_TIMEOUT
                    + " to " + MAX_SESSION_TIMEOUT);
        }
        return new ZooKeeperOptions(settings.withSessionTimeout(timeout));
    }

    /**
     * Sets the ACL of every node that the client creates. All contenders need READ, CREATE and DELETE. By default the nodes are
     * open to everyone, and the client logs a warning.
     */
    public ZooKeeperOptions acl(List<ACL> entries) {
        Objects.requireNonNull(entries, "entries");
        if (entries.isEmpty()) {
            throw new IllegalArgumentException("acl is empty, must have at least one entry");
        }
        return new ZooKeeperOptions(settings.withAcl(entries));
    }

    /** Adds credentials, such as scheme {@code digest} with {@code user:password}. Ignored with {@link #using}. */
    public ZooKeeperOptions auth(String scheme, byte[] auth) {
        Objects.requireNonNull(scheme, "scheme");
        Objects.requireNonNull(auth, "auth");
        return new ZooKeeperOptions(settings.withAuthInfo(new ZooKeeperSettings.AuthInfo(scheme, auth)));
    }

    /**
     * Sets properties of ZooKeeper's client, such as those for TLS and SASL, for this client only. TLS needs both {@code
     * zookeeper.client.secure=true} and {@code zookeeper.clientCnxnSocket=ClientCnxnSocketNetty}. Ignored with {@link #using}.
     *
     * @throws IllegalArgumentException if only the first of the two is set: ZooKeeper's client would then connect without TLS
     */
    public ZooKeeperOptions clientConfig(ZKClientConfig config) {
        Objects.requireNonNull(config, "config");
        if (config.getBoolean(ZKClientConfig.SECURE_CLIENT) && !ZooKeeperSettings.usesTls(config)) {
            throw new IllegalArgumentException("clientConfig has " + ZKClientConfig.SECURE_CLIENT + "=true, must have "
                    + ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET
                    + "=ClientCnxnSocketNetty too: ZooKeeper's client would connect without TLS and send in the clear");
        }
        return new ZooKeeperOptions(settings.withClientConfig(config));
    }

    ZooKeeperSettings settings() {
        return settings;
    }

    /** Returns the URL without credentials. */
    @Override
    public String toString() {
        return settings.toString();
    }
}
