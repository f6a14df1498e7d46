// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import io.mortise.lock.core.runtime.CoreThreads;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockRequest;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The default {@link LockRequest}, which holds the parameters of one attempt and formats its owner record. */
public record AttemptRequest(
        LockName name, String attemptId, Duration leaseDuration, boolean mayWait, Map<String, String> metadata)
        implements LockRequest {
    private static final Logger log = LoggerFactory.getLogger(AttemptRequest.class);
    private static final Host HOST =
            new Host(Host.known(), () -> InetAddress.getLocalHost().getHostName());
    private static final long PID = ProcessHandle.current().pid();

    @Override
    public String ownerRecord() {
        // Wall-clock time is only shown to operators, and never compared.
        return OwnerRecordCodec.encode(attemptId, HOST.name(), PID, Instant.now(), metadata);
    }

    /**
     * The host name of this machine. A name lookup may take seconds, so no acquire waits for it: if the system does not know
     * the name without a lookup, the name is "unknown" until the lookup has completed.
     */
    static final class Host {
        private volatile String name;

        Host(Optional<String> known, Callable<String> resolver) {
            name = known.orElse("unknown");
            if (known.isEmpty()) {
                CoreThreads.daemon("mortise-host-name")
                        .newThread(() -> {
                            try {
                                name = resolver.call();
                            } catch (Exception e) {
                                log.debug("event=host-name-unknown", e);
                            }
                        })
                        .start();
            }
        }

        String name() {
            return name;
        }

        /** Returns the name that is known without a lookup: from the Linux kernel, or from the environment of the process. */
        static Optional<String> known() {
            String kernel = "";
            try {
                kernel = Files.readString(Path.of("/proc/sys/kernel/hostname"));
            } catch (IOException | RuntimeException e) {
                log.trace("event=no-kernel-host-name", e);
            }
            return Stream.of(kernel, System.getenv("COMPUTERNAME"), System.getenv("HOSTNAME"))
                    .filter(Objects::nonNull)
                    .map(String::strip)
                    .filter(name -> !name.isEmpty())
                    .findFirst();
        }
    }
}
