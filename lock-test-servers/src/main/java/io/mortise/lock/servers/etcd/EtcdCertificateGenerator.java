// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.TestCertificateGenerator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Creates self-signed certificate files for an etcd test server and its clients. */
final class EtcdCertificateGenerator {
    private static final String CLIENT = "client";

    private EtcdCertificateGenerator() {}

    /** Creates the certificates that the options require. */
    static void create(Path dir, EtcdServerOptions options) {
        if (options.tls()) {
            TestCertificateGenerator.create(dir);
        }
        if (options.clientCertificates()) {
            createForClients(dir);
        }
    }

    private static void createForClients(Path dir) {
        TestCertificateGenerator.create(dir, CLIENT);
        try {
            // The server must trust its own certificate too: the JSON gateway is a client of the server, and uses it.
            Files.writeString(
                    trusted(dir),
                    Files.readString(clientCertificate(dir))
                            + Files.readString(TestCertificateGenerator.certificate(dir)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path clientCertificate(Path dir) {
        return TestCertificateGenerator.certificate(dir, CLIENT);
    }

    static Path clientKey(Path dir) {
        return TestCertificateGenerator.key(dir, CLIENT);
    }

    static List<String> arguments(Path dir, boolean fromClients) {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of(
                "--cert-file", TestCertificateGenerator.certificate(dir).toString(),
                "--key-file", TestCertificateGenerator.key(dir).toString()));
        if (fromClients) {
            arguments.addAll(List.of(
                    "--client-cert-auth", "--trusted-ca-file", trusted(dir).toString()));
        }
        return arguments;
    }

    private static Path trusted(Path dir) {
        return dir.resolve("trusted.crt");
    }
}
