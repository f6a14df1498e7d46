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

/** The child JVM of a {@link ZooKeeperTestProcess}: directory, port and options in, its port out. */
final class ZooKeeperProcessMain {
    static final String READY = "mortise.zookeeper.port=";

    private ZooKeeperProcessMain() {}

    static List<String> args(Path dir, int port, ZooKeeperServerOptions options) {
        List<String> args = new ArrayList<>(List.of(dir.toString(), Integer.toString(port)));
        args.addAll(options.toArgs());
        return args;
    }

    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        // The parent deletes the data; if it has ended, nobody else will.
        StdinWatchdog.install(line -> {}, () -> TempDir.delete(dir));
        ZooKeeperServerOptions options = ZooKeeperServerOptions.parse(Arrays.copyOfRange(args, 2, args.length));
        // The server's own threads keep this JVM alive.
        RunningZooKeeper server =
                RunningZooKeeper.start(dir, Integer.parseInt(args[1]), options, new ConcurrentHashMap<>());
        System.out.println(READY + server.port());
    }
}
