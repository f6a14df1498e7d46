// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.ServerSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Name and ports of one member of an etcd cluster.
 *
 * @param port the port for clients without TLS
 * @param peerPort the port for other members
 * @param tlsPort the port for clients with TLS; used only if the options enable TLS
 */
record EtcdMemberConfig(String name, int port, int peerPort, int tlsPort) {
    /** Number of ports that a member needs. */
    static final int PORTS = 3;

    /** Returns as many members as the ports suffice for. */
    static List<EtcdMemberConfig> on(List<Integer> ports) {
        List<EtcdMemberConfig> members = new ArrayList<>();
        for (int i = 0; i + PORTS <= ports.size(); i += PORTS) {
            String name = "mortise-" + ports.get(i) + "-" + UUID.randomUUID();
            members.add(new EtcdMemberConfig(name, ports.get(i), ports.get(i + 1), ports.get(i + 2)));
        }
        return members;
    }

    /**
     * Returns the command that starts this member.
     *
     * @param tempDir directory for the data; contains the certificates if the options enable TLS
     * @param all all members of the cluster, including this one
     */
    List<String> command(EtcdServerOptions options, ServerSource source, Path tempDir, List<EtcdMemberConfig> all) {
        List<String> command =
                new ArrayList<>(source instanceof ServerSource.Program program ? program(program) : List.of("etcd"));
        Path dir = source.directory(tempDir);
        String address = source.listenAddress();
        String clients = "http://127.0.0.1:" + port;
        String listen = "http://" + address + ":" + port + (options.tls() ? ",https://" + address + ":" + tlsPort : "");
        command.addAll(List.of("--name", name, "--data-dir", data(dir).toString()));
        command.addAll(List.of("--logger", "zap", "--log-outputs", "stderr", "--log-level", "error"));
        command.addAll(List.of("--listen-client-urls", listen, "--advertise-client-urls", clients));
        command.addAll(List.of("--listen-peer-urls", peerUrl(), "--initial-advertise-peer-urls", peerUrl()));
        // A unique token keeps members of other clusters out that happen to use the same ports.
        command.addAll(List.of("--initial-cluster-token", all.get(0).name, "--initial-cluster"));
        command.add(
                all.stream().map(member -> member.name + "=" + member.peerUrl()).collect(Collectors.joining(",")));
        if (!options.keepsData()) {
            command.add("--unsafe-no-fsync");
        }
        if (options.tls()) {
            command.addAll(EtcdCertificateGenerator.arguments(dir, options.clientCertificates()));
        }
        command.addAll(options.arguments());
        return command;
    }

    /** Returns this member's data directory below {@code dir}. */
    Path data(Path dir) {
        return dir.resolve(name);
    }

    private String peerUrl() {
        return "http://127.0.0.1:" + peerPort;
    }

    /** Returns etcd's program without {@code ETCD_} variables: a variable in conflict with a flag is a fatal error. */
    private static List<String> program(ServerSource.Program program) {
        List<String> command = new ArrayList<>(List.of("env"));
        System.getenv().keySet().stream()
                .filter(variable -> variable.startsWith("ETCD_"))
                .forEach(variable -> command.addAll(List.of("-u", variable)));
        if (System.getProperty("os.arch").equals("aarch64")) {
            command.add("ETCD_UNSUPPORTED_ARCH=arm64"); // etcd before 3.5 does not start on ARM otherwise
        }
        command.add(program.path().toString());
        return command;
    }
}
