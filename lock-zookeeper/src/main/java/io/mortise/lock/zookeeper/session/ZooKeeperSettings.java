// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.support.StoreExposureCheck;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;

/**
 * The validated settings of a lock client on ZooKeeper, such as its servers, session timeout and credentials. Immutable.
 *
 * <p>A client has either servers, to which Mortise opens a managed handle, or a supplier of the application's own handle.
 *
 * @param connectString the servers of a managed handle; empty if the application supplies the handle
 * @param handleSupplier the supplier of the application's handle; empty if Mortise opens the handle
 * @param basePath the path of the node below which the lock nodes are created
 * @param sessionTimeout the requested session timeout; the server may grant a different one
 * @param acl the ACL of every node that is created
 * @param authInfos the credentials that are sent after connecting
 * @param clientConfig the properties of ZooKeeper's client, for TLS and SASL
 */
public record ZooKeeperSettings(
        Optional<String> connectString,
        Optional<Supplier<ZooKeeper>> handleSupplier,
        String basePath,
        Duration sessionTimeout,
        List<ACL> acl,
        List<AuthInfo> authInfos,
        Optional<ZKClientConfig> clientConfig) {

    /** A credential as ZooKeeper defines it: a scheme and its data. Never prints its content. */
    public static final class AuthInfo {
        private final String scheme;
        private final byte[] auth;

        /** Creates a credential from a copy of the data. */
        public AuthInfo(String scheme, byte[] auth) {
            this.scheme = scheme;
            this.auth = auth.clone();
        }

        void addTo(ZooKeeper handle) {
            handle.addAuthInfo(scheme, auth);
        }
    }

    /** Returns a copy with another base path. */
    public ZooKeeperSettings withBasePath(String path) {
        return new ZooKeeperSettings(connectString, handleSupplier, path, sessionTimeout, acl, authInfos, clientConfig);
    }

    /** Returns a copy with another session timeout. */
    public ZooKeeperSettings withSessionTimeout(Duration timeout) {
        return new ZooKeeperSettings(connectString, handleSupplier, basePath, timeout, acl, authInfos, clientConfig);
    }

    /** Returns a copy with another ACL. */
    public ZooKeeperSettings withAcl(List<ACL> entries) {
        return new ZooKeeperSettings(
                connectString, handleSupplier, basePath, sessionTimeout, List.copyOf(entries), authInfos, clientConfig);
    }

    /** Returns a copy with one more credential. */
    public ZooKeeperSettings withAuthInfo(AuthInfo info) {
        List<AuthInfo> infos = new ArrayList<>(authInfos);
        infos.add(info);
        return new ZooKeeperSettings(
                connectString, handleSupplier, basePath, sessionTimeout, acl, List.copyOf(infos), clientConfig);
    }

    /** Returns a copy with other properties of ZooKeeper's client. */
    public ZooKeeperSettings withClientConfig(ZKClientConfig config) {
        return new ZooKeeperSettings(
                connectString, handleSupplier, basePath, sessionTimeout, acl, authInfos, Optional.of(config));
    }

    /** Returns whether Mortise opens and closes the handle, instead of using the application's. */
    public boolean managesHandle() {
        return handleSupplier.isEmpty();
    }

    /** Returns the chroot at the end of the connect string, to which all paths are relative. */
    public Optional<String> chroot() {
        return connectString.map(servers -> new ConnectStringParser(servers).getChrootPath());
    }

    /** Returns the addresses in the connect string; none for an application-supplied handle. */
    public List<InetSocketAddress> servers() {
        return connectString
                .map(servers -> List.copyOf(new ConnectStringParser(servers).getServerAddresses()))
                .orElse(List.of());
    }

    /** Returns the properties of ZooKeeper's client, or its default properties if none were set. */
    public ZKClientConfig clientConfigOrDefault() {
        return clientConfig.orElseGet(ZKClientConfig::new);
    }

    /** Returns whether a client with these properties uses TLS. ZooKeeper's client does so only with Netty. */
    public static boolean usesTls(ZKClientConfig config) {
        String socket = config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "");
        return config.getBoolean(ZKClientConfig.SECURE_CLIENT) && socket.contains("Netty");
    }

    /** Returns whether this ACL permits everyone more than reading. */
    public static boolean isOpenToAll(List<ACL> acl) {
        return acl.stream()
                .anyMatch(entry -> entry.getId().equals(ZooDefs.Ids.ANYONE_ID_UNSAFE)
                        && (entry.getPerms() & ~ZooDefs.Perms.READ) != 0);
    }

    /**
     * Checks who can access the locks. Of an application-supplied handle only the ACL is known, not the credentials and the
     * encryption that it uses.
     */
    public StoreExposureCheck exposureCheck() {
        boolean tls = usesTls(clientConfigOrDefault());
        List<String> hosts =
                servers().stream().map(InetSocketAddress::getHostString).toList();
        boolean password = authInfos.stream().anyMatch(info -> info.scheme.equals("digest"));
        return new StoreExposureCheck(
                toString(),
                StoreExposureCheck.isLoopback(hosts),
                !isOpenToAll(acl),
                managesHandle() && password,
                managesHandle() && tls,
                true);
    }

    /** Returns the URL without credentials. */
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
