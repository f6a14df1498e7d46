// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.AccessCheck;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
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

/** How to reach ZooKeeper. Immutable: each method returns a changed copy. Never prints credentials. */
public final class ZooKeeperOptions {
    /** Where locks live unless said otherwise. */
    public static final String DEFAULT_BASE_PATH = "/locks";

    /** The session timeout that is asked for unless said otherwise; the server bounds it. */
    public static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(15);

    private static final String ZOOKEEPER = "/zookeeper";
    private static final Duration LEAST_SESSION = Duration.ofSeconds(1);
    static final Duration MOST_SESSION = Duration.ofHours(1);

    /** What identifies the client to the server. */
    static final class AuthInfo {
        private final String scheme;
        private final byte[] auth;

        AuthInfo(String scheme, byte[] auth) {
            this.scheme = scheme;
            this.auth = auth.clone();
        }

        void addTo(ZooKeeper handle) {
            handle.addAuthInfo(scheme, auth);
        }
    }

    private final Optional<String> connectString;
    private final Optional<Supplier<ZooKeeper>> supplier;
    private String basePath = DEFAULT_BASE_PATH;
    private Duration sessionTimeout = DEFAULT_SESSION_TIMEOUT;
    private List<ACL> acl = List.copyOf(ZooDefs.Ids.OPEN_ACL_UNSAFE);
    private List<AuthInfo> authInfos = List.of();
    private Optional<ZKClientConfig> clientConfig = Optional.empty();

    private ZooKeeperOptions(Optional<String> connectString, Optional<Supplier<ZooKeeper>> supplier) {
        this.connectString = connectString;
        this.supplier = supplier;
    }

    private ZooKeeperOptions copy() {
        ZooKeeperOptions copy = new ZooKeeperOptions(connectString, supplier);
        copy.basePath = basePath;
        copy.sessionTimeout = sessionTimeout;
        copy.acl = acl;
        copy.authInfos = authInfos;
        copy.clientConfig = clientConfig;
        return copy;
    }

    /** A session of Mortise's own. {@code h1:2181,h2:2181/chroot}; the chroot, if any, must exist. */
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
        return new ZooKeeperOptions(Optional.of(connectString), Optional.empty());
    }

    /**
     * The application's own handle, which Mortise never closes. Asked at the start, and again when the handle's session has
     * ended: a handle whose session expired is dead, and the supplier must then give a new one. Its default watcher stays the
     * application's. What a borrowed handle costs: a waiter that gives up leaves a watch on the server until the node before
     * it goes. The supplier must not block: it need not wait until a new handle has connected.
     */
    public static ZooKeeperOptions using(Supplier<ZooKeeper> handle) {
        Objects.requireNonNull(handle, "handle");
        return new ZooKeeperOptions(Optional.empty(), Optional.of(() -> borrow(handle)));
    }

    private static ZooKeeper borrow(Supplier<ZooKeeper> supplier) {
        ZooKeeper handle;
        try {
            handle = supplier.get();
        } catch (RuntimeException e) {
            throw new BackendUnavailableException("the application's supplier of a ZooKeeper handle failed: " + e, e);
        }
        if (handle == null) {
            throw new LockConfigurationException("the application's supplier of a ZooKeeper handle gave null");
        }
        return handle;
    }

    /** Under which node locks live; created when the first lock is. Default {@value #DEFAULT_BASE_PATH}. */
    public ZooKeeperOptions basePath(String path) {
        Objects.requireNonNull(path, "path");
        try {
            PathUtils.validatePath(path);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "basePath is \"" + path + "\", must be a path such as /locks: " + e.getMessage(), e);
        }
        if (path.equals(ZOOKEEPER) || path.startsWith(ZOOKEEPER + "/")) {
            throw new IllegalArgumentException(
                    "basePath is \"" + path + "\", must not be ZooKeeper's own " + ZOOKEEPER);
        }
        ZooKeeperOptions copy = copy();
        copy.basePath = path;
        return copy;
    }

    /**
     * How long the server keeps the locks of a silent client. The server bounds what is asked, by default to 2 to 20 of its
     * ticks; the negotiated value is used. Default 15 s. Ignored with {@link #using}.
     */
    public ZooKeeperOptions sessionTimeout(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        if (timeout.compareTo(LEAST_SESSION) < 0 || timeout.compareTo(MOST_SESSION) > 0) {
            throw new IllegalArgumentException(
                    "sessionTimeout is " + timeout + ", must be from " + LEAST_SESSION + " to " + MOST_SESSION);
        }
        ZooKeeperOptions copy = copy();
        copy.sessionTimeout = timeout;
        return copy;
    }

    /** On every node that is made. All contenders need READ, CREATE and DELETE. Default: open to everyone, with a warning. */
    public ZooKeeperOptions acl(List<ACL> entries) {
        Objects.requireNonNull(entries, "entries");
        if (entries.isEmpty()) {
            throw new IllegalArgumentException("acl is empty, must have at least one entry");
        }
        ZooKeeperOptions copy = copy();
        copy.acl = List.copyOf(entries);
        return copy;
    }

    /** Adds credentials, such as scheme {@code digest} with {@code user:password}. Ignored with {@link #using}. */
    public ZooKeeperOptions auth(String scheme, byte[] auth) {
        Objects.requireNonNull(scheme, "scheme");
        Objects.requireNonNull(auth, "auth");
        ZooKeeperOptions copy = copy();
        List<AuthInfo> infos = new ArrayList<>(authInfos);
        infos.add(new AuthInfo(scheme, auth));
        copy.authInfos = List.copyOf(infos);
        return copy;
    }

    /**
     * TLS, SASL and the rest, for this client alone. TLS takes {@code zookeeper.client.secure=true} and {@code
     * zookeeper.clientCnxnSocket=ClientCnxnSocketNetty}. Ignored with {@link #using}.
     *
     * @throws IllegalArgumentException if only the first is there: ZooKeeper's client would send in the clear
     */
    public ZooKeeperOptions clientConfig(ZKClientConfig config) {
        Objects.requireNonNull(config, "config");
        if (config.getBoolean(ZKClientConfig.SECURE_CLIENT) && !usesTls(config)) {
            throw new IllegalArgumentException("clientConfig has " + ZKClientConfig.SECURE_CLIENT + "=true, must have "
                    + ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET
                    + "=ClientCnxnSocketNetty too: ZooKeeper's client would send in the clear");
        }
        ZooKeeperOptions copy = copy();
        copy.clientConfig = Optional.of(config);
        return copy;
    }

    /** Whether ZooKeeper's client does: its usual kind of socket ignores that it should. */
    static boolean usesTls(ZKClientConfig config) {
        String socket = config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "");
        return config.getBoolean(ZKClientConfig.SECURE_CLIENT) && socket.contains("Netty");
    }

    Optional<String> connectString() {
        return connectString;
    }

    /** What ends a connect string: the root of all paths. */
    Optional<String> chroot() {
        return connectString.map(servers -> new ConnectStringParser(servers).getChrootPath());
    }

    Optional<Supplier<ZooKeeper>> supplier() {
        return supplier;
    }

    String basePath() {
        return basePath;
    }

    Duration sessionTimeout() {
        return sessionTimeout;
    }

    List<ACL> acl() {
        return acl;
    }

    boolean openToAll() {
        return openToAll(acl);
    }

    /** Whether everyone may do more than look. */
    static boolean openToAll(List<ACL> acl) {
        return acl.stream()
                .anyMatch(entry -> entry.getId().equals(ZooDefs.Ids.ANYONE_ID_UNSAFE)
                        && (entry.getPerms() & ~ZooDefs.Perms.READ) != 0);
    }

    /** Who can reach the locks. What an application's own handle sends is not known, only the ACL of the nodes. */
    AccessCheck access() {
        boolean tls = usesTls(clientConfig.orElseGet(ZKClientConfig::new));
        List<String> hosts = connectString.stream()
                .flatMap(given -> new ConnectStringParser(given).getServerAddresses().stream())
                .map(InetSocketAddress::getHostString)
                .toList();
        boolean own = connectString.isPresent();
        boolean password = authInfos.stream().anyMatch(info -> info.scheme.equals("digest"));
        return new AccessCheck(
                toString(), AccessCheck.isLoopback(hosts), !openToAll(), own && password, own && tls, true);
    }

    List<AuthInfo> authInfos() {
        return authInfos;
    }

    Optional<ZKClientConfig> clientConfig() {
        return clientConfig;
    }

    /** As a URL has it, without credentials. */
    @Override
    public String toString() {
        if (connectString.isEmpty()) {
            return "zookeeper:(the application's handle)" + basePath;
        }
        String servers = connectString.get().split("/", 2)[0];
        return "zookeeper://" + servers + basePath
                + chroot().map(path -> "?chroot=" + path).orElse("");
    }
}
