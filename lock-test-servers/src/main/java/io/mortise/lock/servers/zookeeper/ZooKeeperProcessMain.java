// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.zookeeper;

import io.mortise.lock.servers.process.TempDir;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/** Main class of the child JVM of a {@link ZooKeeperTestProcess}, which starts a server and prints its port. */
final class ZooKeeperProcessMain {
    /** Prefix of the line that prints the port. */
    static final String READY = "mortise.zookeeper.port=";

    private ZooKeeperProcessMain() {}

    /** Returns the arguments for {@link #main}. */
    static List<String> args(Path dir, int port, ZooKeeperServerOptions options) {
        List<String> args = new ArrayList<>(List.of(dir.toString(), Integer.toString(port)));
        args.addAll(options.toArgs());
        return args;
    }

    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        // Normally the parent deletes the data; if it has ended, this process must.
        StdinWatchdog.install(line -> {}, () -> TempDir.delete(dir));
        ZooKeeperServerOptions options = ZooKeeperServerOptions.parse(Arrays.copyOfRange(args, 2, args.length));
        // The server's own threads keep this JVM alive.
        EmbeddedZooKeeper server =
                EmbeddedZooKeeper.start(dir, Integer.parseInt(args[1]), options, new ConcurrentHashMap<>());
        System.out.println(READY + server.port());
    }
}
