// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core;

import io.mortise.lock.spi.LockMode;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.OwnerRecord;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

/** One ticket's request. */
record Request(LockName name, String attemptId, Duration leaseDuration, boolean mayWait, Map<String, String> metadata)
        implements LockRequest {
    private static final String HOST = hostName();
    private static final long PID = ProcessHandle.current().pid();

    @Override
    public LockMode mode() {
        return LockMode.EXCLUSIVE;
    }

    @Override
    public String ownerRecord() {
        // Wall-clock time: shown to people, never compared.
        Instant since = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        return OwnerRecord.encode(attemptId, mode(), HOST, PID, since, metadata);
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
