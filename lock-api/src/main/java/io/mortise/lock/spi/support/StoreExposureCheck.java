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
 * Checks whether others can take or forge the locks of a store, by how a client connects to it (S19). One check for all backends: the
 * same findings are logged once and told by {@link io.mortise.lock.LockAdmin#diagnose}.
 *
 * @param endpoints as a URL, without secrets
 * @param loopback whether all servers are on this machine: what never leaves it is worth an INFO at most
 * @param restricted whether the store's own users, certificates or ACLs keep others out
 * @param passwordSent whether the client sends a password
 * @param encrypted whether it uses TLS
 * @param verified whether it verifies the server's certificate, with TLS
 */
public record StoreExposureCheck(
        String endpoints,
        boolean loopback,
        boolean restricted,
        boolean passwordSent,
        boolean encrypted,
        boolean verified) {
    private static final Logger log = LoggerFactory.getLogger(StoreExposureCheck.class);
    private static final Set<String> logged = ConcurrentHashMap.newKeySet(); // kinds of findings by scheme: few

    /** Returns whether all of these hosts are this machine, as their names say; nothing is looked up. */
    public static boolean isLoopback(Collection<String> hosts) {
        return !hosts.isEmpty()
                && hosts.stream()
                        .allMatch(host -> host.equalsIgnoreCase("localhost")
                                || host.equals("::1")
                                || host.equals("[::1]")
                                || host.matches("127(\\.\\d{1,3}){3}"));
    }

    /** Returns what lets others in; empty if nothing does. */
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
                    "the password is sent without TLS: whoever listens can take or forge these locks",
                    "use TLS"));
        }
        if (encrypted && !verified) {
            findings.add(new Finding(
                    severity,
                    "the servers' certificates are not verified: whoever is in between can read the password, and take or"
                            + " forge these locks",
                    "trust the certificate of the servers or of who signed it, and verify it"));
        }
        return findings;
    }

    /** Logs the findings: each kind once for each kind of store, in the life of the JVM. */
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
