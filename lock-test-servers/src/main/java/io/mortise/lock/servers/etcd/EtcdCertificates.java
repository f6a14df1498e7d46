// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import io.mortise.lock.servers.process.TestCertificate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Certificates of an etcd server and its clients, as files. Each signs itself. */
final class EtcdCertificates {
    private static final String CLIENT = "client";

    private EtcdCertificates() {}

    /** Makes those that the options ask for. */
    static void create(Path dir, EtcdServerOptions options) {
        if (options.tls()) {
            TestCertificate.create(dir);
        }
        if (options.clientCertificates()) {
            createForClients(dir);
        }
    }

    private static void createForClients(Path dir) {
        TestCertificate.create(dir, CLIENT);
        try {
            // Its own as well: the JSON gateway is a client of the server, with the server's certificate.
            Files.writeString(
                    trusted(dir),
                    Files.readString(clientCertificate(dir)) + Files.readString(TestCertificate.certificate(dir)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Path clientCertificate(Path dir) {
        return TestCertificate.certificate(dir, CLIENT);
    }

    static Path clientKey(Path dir) {
        return TestCertificate.key(dir, CLIENT);
    }

    static List<String> arguments(Path dir, boolean fromClients) {
        List<String> arguments = new ArrayList<>();
        arguments.addAll(List.of(
                "--cert-file", TestCertificate.certificate(dir).toString(),
                "--key-file", TestCertificate.key(dir).toString()));
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
