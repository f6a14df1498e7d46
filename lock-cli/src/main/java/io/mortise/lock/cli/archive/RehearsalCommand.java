// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.archive;

import io.mortise.lock.cli.invocation.ExitCodes;
import io.mortise.lock.servers.zookeeper.ZooKeeperTestServer;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;

/** Hidden command that loads the classes of every backend, for the archive. */
@Command(
        name = RehearsalCommand.NAME,
        hidden = true,
        description = "What archive runs to see which classes are needed.")
public final class RehearsalCommand implements Callable<Integer> {
    static final String NAME = "archive-rehearsal";

    private final Consumer<String[]> commandLine;

    /** @param commandLine runs one */
    public RehearsalCommand(Consumer<String[]> commandLine) {
        this.commandLine = commandLine;
    }

    @Override
    public Integer call() throws Exception {
        look("memory:rehearsal");
        commandLine.accept(new String[] {"--help"});
        try (RedisStandIn redis = new RedisStandIn()) {
            look(redis.url());
        }
        try (EtcdStandIn etcd = new EtcdStandIn()) {
            look(etcd.url());
        }
        try (ZooKeeperTestServer server = ZooKeeperTestServer.start()) {
            look("zookeeper://" + server.connectString() + "/rehearsal");
        }
        return ExitCodes.OK;
    }

    private void look(String url) {
        for (String line : List.of("who x", "list x", "list --json")) {
            commandLine.accept((line + " --url " + url).split(" "));
        }
    }
}
