// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.process;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** Creates self-signed certificates for localhost and their private keys, as files. */
public final class TestCertificateGenerator {
    private static final String SERVER = "server";

    /** Password of the key store and of the key in it. */
    public static final String PASSWORD = "changeit";

    private TestCertificateGenerator() {}

    /** Creates a server's key store, certificate and key in a directory, with the JDK's {@code keytool}. */
    public static void create(Path dir) {
        create(dir, SERVER);
    }

    /** Creates the files for a server or client, whose name becomes the name of the files. */
    public static void create(Path dir, String name) {
        try {
            Path store = store(dir, name);
            keytool(store, name);
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD.toCharArray());
            }
            pem(certificate(dir, name), "CERTIFICATE", keys.getCertificate(name).getEncoded());
            pem(
                    key(dir, name),
                    "PRIVATE KEY",
                    keys.getKey(name, PASSWORD.toCharArray()).getEncoded());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the path of the server's key store (PKCS #12), with its certificate and key. */
    public static Path store(Path dir) {
        return store(dir, SERVER);
    }

    private static Path store(Path dir, String name) {
        return dir.resolve(name + ".p12");
    }

    /** Returns the path of the server's certificate (PEM), for a client's trust store. */
    public static Path certificate(Path dir) {
        return certificate(dir, SERVER);
    }

    /** Returns the path of the certificate (PEM) of that name. */
    public static Path certificate(Path dir, String name) {
        return dir.resolve(name + ".crt");
    }

    /** Returns the path of the server's private key (PEM). */
    public static Path key(Path dir) {
        return key(dir, SERVER);
    }

    /** Returns the path of the private key (PEM) of that name. */
    public static Path key(Path dir, String name) {
        return dir.resolve(name + ".key");
    }

    private static void keytool(Path store, String name) throws IOException {
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String[] command = {
            keytool,
            "-J-XX:TieredStopAtLevel=1", // half the processor time
            "-J-XX:+UseSerialGC",
            "-genkeypair",
            "-keystore",
            store.toString(),
            "-storetype",
            "PKCS12",
            "-storepass",
            PASSWORD,
            "-alias",
            name,
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-validity",
            "1",
            "-dname",
            "CN=localhost",
            "-ext",
            "SAN=ip:127.0.0.1,dns:localhost"
        };
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("keytool failed: " + output);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while creating a certificate", e);
        }
    }

    private static void pem(Path file, String type, byte[] content) throws IOException {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        Files.writeString(file, "-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n");
    }
}
