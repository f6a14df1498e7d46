// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server that counts what clients send, by kind of request. */
final class CountingZooKeeperServer extends ZooKeeperServer {
    private static final int MAX_CONTAINERS_PER_MINUTE = 10_000;

    private final ConcurrentMap<String, LongAdder> requests;

    CountingZooKeeperServer(Path dir, int tickMillis, ConcurrentMap<String, LongAdder> requests) throws IOException {
        super(dir.toFile(), dir.toFile(), tickMillis);
        this.requests = requests;
    }

    // Every packet of a client passes here once, whatever becomes of it; only the connect request does not.
    @Override
    public void processPacket(ServerCnxn cnxn, RequestHeader header, RequestRecord request) throws IOException {
        requests.computeIfAbsent(Request.op2String(header.getType()), name -> new LongAdder())
                .increment();
        super.processPacket(cnxn, header, request);
    }

    ContainerManager newContainerManager(int checkMillis) {
        return new ContainerManager(getZKDatabase(), firstProcessor, checkMillis, MAX_CONTAINERS_PER_MINUTE);
    }
}
