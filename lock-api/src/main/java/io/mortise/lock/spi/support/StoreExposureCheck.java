// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks whether a client's connection settings let others take or forge locks in the store.
 *
 * <p>All backends use this check (S19). Its findings are logged once, and {@link io.mortise.lock.LockAdmin#diagnose} returns
 * them too.
 *
 * @param endpoints the servers as a URL, without secrets
 * @param loopback whether all servers are on this machine; then a finding has the severity INFO at most
 * @param restricted whether the store's users, certificates or ACLs keep other clients out
 * @param passwordSent whether the client sends a password
 * @param encrypted whether the client uses TLS
 * @param verified whether the client verifies the certificates of the servers, if it uses TLS
 */
public record StoreExposureCheck(
        String endpoints,
        boolean loopback,
        boolean restricted,
        boolean passwordSent,
        boolean encrypted,
        boolean verified) {
    private static final Logger log = LoggerFactory.getLogger(StoreExposureCheck.class);
    private static final Set<String> logged = ConcurrentHashMap.newKeySet(); // bounded: a few findings for each scheme

    /** Returns whether all hosts are localhost, ::1 or in 127.0.0.0/8. Makes no name lookup. */
    public static boolean isLoopback(Collection<String> hosts) {
        return !hosts.isEmpty()
                && hosts.stream()
                        .allMatch(host -> host.equalsIgnoreCase("localhost")
                                || host.equals("::1")
                                || host.equals("[::1]")
                                || host.matches("127(\\.\\d{1,3}){3}"));
    }

    /** Returns the settings that expose the locks; empty if there are none. */
    public List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        Severity severity = loopback ? Severity.INFO : Severity.WARNING;
        if (!restricted) {
            findings.add(new Finding(
                    severity,
                    "the locks are open to everyone " + (loopback ? "on this machine" : "who reaches the servers")
                            + ": no password or certificate is needed to take or forge them",
                    "set users or passwords, and use TLS"));
        }
        if (passwordSent && !encrypted && !loopback) {
            findings.add(new Finding(
                    severity,
                    "the password is sent without TLS: anyone who can read the traffic can take or forge these locks",
                    "use TLS"));
        }
        if (encrypted && !verified) {
            findings.add(new Finding(
                    severity,
                    "the servers' certificates are not verified: anyone between client and server can read the password,"
                            + " and take or forge these locks",
                    "trust the certificate of the servers or of their certificate authority, and verify it"));
        }
        return findings;
    }

    /** Logs the findings, each one only once per URL scheme in the lifetime of the JVM. */
    public void log() {
        String scheme = endpoints.replaceFirst(":.*", "");
        for (Finding finding : findings()) {
            if (!logged.add(scheme + " " + finding.what())) {
                continue;
            }
            log.atLevel(finding.severity() == Severity.INFO ? org.slf4j.event.Level.INFO : org.slf4j.event.Level.WARN)
                    .log("event=open-store endpoints={} hint=\"{}\"", endpoints, finding.what());
        }
    }
}
