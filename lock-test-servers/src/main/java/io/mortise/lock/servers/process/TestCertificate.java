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

/** A fresh self-signed certificate for localhost, and its key. */
public final class TestCertificate {
    private static final String SERVER = "server";

    /** Of the store, and of the key in it. */
    public static final String PASSWORD = "changeit";

    private TestCertificate() {}

    /** Makes a server's files in that directory, with the JDK's own {@code keytool}. */
    public static void create(Path dir) {
        create(dir, SERVER);
    }

    /** The same for whoever has that name. */
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

    /** Of a server's certificate and key, PKCS 12. */
    public static Path store(Path dir) {
        return store(dir, SERVER);
    }

    private static Path store(Path dir, String name) {
        return dir.resolve(name + ".p12");
    }

    /** Of a server, for who is to trust it. */
    public static Path certificate(Path dir) {
        return certificate(dir, SERVER);
    }

    public static Path certificate(Path dir, String name) {
        return dir.resolve(name + ".crt");
    }

    public static Path key(Path dir) {
        return key(dir, SERVER);
    }

    public static Path key(Path dir, String name) {
        return dir.resolve(name + ".key");
    }

    private static void keytool(Path store, String name) throws IOException {
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String[] command = {
            keytool,
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
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException("keytool failed: " + said);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while making a certificate", e);
        }
    }

    private static void pem(Path file, String type, byte[] content) throws IOException {
        String lines = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        Files.writeString(file, "-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n");
    }
}
