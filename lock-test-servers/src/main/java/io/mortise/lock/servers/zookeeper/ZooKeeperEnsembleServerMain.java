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

/** The child JVM of one node of a {@link ZooKeeperTestEnsemble}; its arguments are the ensemble's directory and this
 * node's configuration file. */
final class ZooKeeperEnsembleServerMain {
    private ZooKeeperEnsembleServerMain() {}

    public static void main(String[] args) {
        // The parent deletes the data of all nodes; if it has ended, its children all end and each deletes what is
        // left.
        StdinWatchdog.install(line -> {}, () -> TempDir.delete(Path.of(args[0])));
        try {
            QuorumPeerConfig parsed = new QuorumPeerConfig();
            parsed.parse(args[1]);
            new ProxiedMain().runFromConfig(parsed);
        } catch (Exception e) {
            System.err.println("Cannot serve: " + e + ", caused by " + e.getCause());
        } finally {
            // ZooKeeper leaves threads behind when a port is taken; the parent must see that this node ended.
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
     * A node that is called by one with a lower id hangs up and calls back at the address which the caller tells, its real
     * one. That would go round the proxy, so this one always uses the address in its own configuration.
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
        public void initiateConnection(MultipleAddresses told, Long sid) {
            QuorumPeer.QuorumServer configured = peer.getView().get(sid);
            if (configured != null) {
                super.initiateConnection(configured.electionAddr, sid);
            }
        }
    }
}
