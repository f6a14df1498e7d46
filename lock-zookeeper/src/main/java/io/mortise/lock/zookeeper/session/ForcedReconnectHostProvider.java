// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * A host provider that makes ZooKeeper's client reconnect whenever its server list is updated.
 *
 * <p>An update is the only way to make a handle drop its connection to an unresponsive server. The servers and their random
 * order stay the same.
 */
final class ForcedReconnectHostProvider implements HostProvider {
    private final HostProvider order;

    ForcedReconnectHostProvider(String connectString) {
        this.order = new StaticHostProvider(new ConnectStringParser(connectString).getServerAddresses());
    }

    @Override
    public int size() {
        return order.size();
    }

    @Override
    public InetSocketAddress next(long spinDelay) {
        return order.next(spinDelay);
    }

    @Override
    public void onConnected() {
        order.onConnected();
    }

    @Override
    public boolean updateServerList(Collection<InetSocketAddress> same, InetSocketAddress current) {
        return true; // makes the client drop its connection
    }
}
