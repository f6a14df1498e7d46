// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper;

import java.net.InetSocketAddress;
import java.util.Collection;
import org.apache.zookeeper.client.ConnectStringParser;
import org.apache.zookeeper.client.HostProvider;
import org.apache.zookeeper.client.StaticHostProvider;

/**
 * The servers in ZooKeeper's own random order. A client that is given a list of servers anew drops its connection if its
 * provider says so: the one way by which a handle can be told to leave a server that is silent.
 */
final class SameServers implements HostProvider {
    private final HostProvider order;

    SameServers(String connectString) {
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
        return true; // drop the connection
    }
}
