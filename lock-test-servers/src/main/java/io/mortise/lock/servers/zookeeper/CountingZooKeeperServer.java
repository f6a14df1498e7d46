// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.StreamSupport;
import org.apache.zookeeper.MultiOperationRecord;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.proto.RequestHeader;
import org.apache.zookeeper.server.ContainerManager;
import org.apache.zookeeper.server.Request;
import org.apache.zookeeper.server.RequestRecord;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.ZooKeeperServer;

/** A ZooKeeper server in this JVM that counts the requests of its clients by kind. */
final class CountingZooKeeperServer extends ZooKeeperServer {
    private static final int MAX_CONTAINERS_PER_MINUTE = 10_000;

    private final ConcurrentMap<String, LongAdder> requests;

    CountingZooKeeperServer(Path dir, int tickMillis, ConcurrentMap<String, LongAdder> requests) throws IOException {
        super(dir.toFile(), dir.toFile(), tickMillis);
        this.requests = requests;
    }

    // ZooKeeper calls this once for each packet of a client, except for the connect request.
    @Override
    public void processPacket(ServerCnxn cnxn, RequestHeader header, RequestRecord request) throws IOException {
        requests.computeIfAbsent(kind(header, request), name -> new LongAdder()).increment();
        super.processPacket(cnxn, header, request);
    }

    private static String kind(RequestHeader header, RequestRecord request) throws IOException {
        int type = header.getType();
        if (type == ZooDefs.OpCode.multi) {
            MultiOperationRecord steps = request.readRecord(MultiOperationRecord::new); // it can be read again
            boolean checks = StreamSupport.stream(steps.spliterator(), false)
                    .allMatch(step -> step.getType() == ZooDefs.OpCode.check);
            type = checks ? ZooDefs.OpCode.check : type;
        }
        return Request.op2String(type);
    }

    ContainerManager newContainerManager(int checkMillis) {
        return new ContainerManager(getZKDatabase(), firstProcessor, checkMillis, MAX_CONTAINERS_PER_MINUTE);
    }
}
