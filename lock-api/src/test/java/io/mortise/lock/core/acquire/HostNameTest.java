// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a slow lookup of the host name does not delay an acquire. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostNameTest {
    @Test
    void S09_aSlowNameLookupDelaysNoAcquire() throws Exception {
        CountDownLatch lookup = new CountDownLatch(1);
        AttemptRequest.Host host = new AttemptRequest.Host(Optional.empty(), () -> {
            lookup.await();
            return "resolved";
        });
        assertThat(host.name()).isEqualTo("unknown");
        lookup.countDown();
        while (!host.name().equals("resolved")) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @Test
    void S09_noLookupIsMadeIfTheSystemKnowsTheName() {
        CountDownLatch lookups = new CountDownLatch(1);
        AttemptRequest.Host host = new AttemptRequest.Host(Optional.of("known"), () -> {
            lookups.countDown();
            return "resolved";
        });
        assertThat(host.name()).isEqualTo("known");
        assertThat(lookups.getCount()).isOne();
    }

    @Test
    void theKernelsHostNameIsKnownWithoutALookup() throws Exception {
        Path kernel = Path.of("/proc/sys/kernel/hostname");
        assumeThat(kernel).isReadable();
        assertThat(AttemptRequest.Host.known())
                .contains(Files.readString(kernel).strip());
    }
}
