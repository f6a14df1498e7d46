// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.nio.file.Path;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.quorum.MultipleAddresses;
import org.apache.zookeeper.server.quorum.QuorumCnxManager;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthLearner;
import org.apache.zookeeper.server.quorum.auth.NullQuorumAuthServer;

/**
 * Main class that runs one server of a {@link ZooKeeperTestEnsemble} in a child JVM. Its arguments are the ensemble's
 * directory and the server's configuration file.
 */
final class ZooKeeperEnsembleServerMain {
    private ZooKeeperEnsembleServerMain() {}

    public static void main(String[] args) {
        // Normally the parent deletes the data of all servers. If the parent has ended, all children end, and each
        // deletes the
        // remaining data.
        StdinWatchdog.install(line -> {}, () -> TempDir.delete(Path.of(args[0])));
        try {
            QuorumPeerConfig parsed = new QuorumPeerConfig();
            parsed.parse(args[1]);
            new ProxiedMain().runFromConfig(parsed);
        } catch (Exception e) {
            System.err.println("Cannot start ZooKeeper: " + e + ", caused by " + e.getCause());
        } finally {
            // ZooKeeper leaves threads running when a port is taken, but the parent must see that this process has
            // ended.
            Runtime.getRuntime().halt(1);
        }
    }

    private static final class ProxiedMain extends QuorumPeerMain {
        @Override
        protected QuorumPeer getQuorumPeer() throws SaslException {
            return new ProxiedPeer();
        }
    }

    private static final class ProxiedPeer extends QuorumPeer {
        ProxiedPeer() throws SaslException {}

        @Override
        public QuorumCnxManager createCnxnManager() {
            return new ProxiedElections(this);
        }
    }

    /**
     * Connects to other servers only at the addresses in this server's configuration. When a server with a lower id connects,
     * ZooKeeper closes the connection and connects back to the real address that the other server has announced, which would
     * bypass the proxy.
     */
    private static final class ProxiedElections extends QuorumCnxManager {
        // ZooKeeper's default.
        private static final int CONNECTING_THREADS = 20;

        private final QuorumPeer peer;

        ProxiedElections(QuorumPeer peer) {
            super(
                    peer,
                    peer.getMyId(),
                    peer.getView(),
                    new NullQuorumAuthServer(),
                    new NullQuorumAuthLearner(),
                    peer.getTickTime() * peer.getSyncLimit(),
                    false,
                    CONNECTING_THREADS,
                    false);
            this.peer = peer;
        }

        @Override
        public void initiateConnection(MultipleAddresses announced, Long sid) {
            QuorumPeer.QuorumServer configured = peer.getView().get(sid);
            if (configured != null) {
                super.initiateConnection(configured.electionAddr, sid);
            }
        }
    }
}
