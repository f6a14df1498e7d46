// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.core.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostNameTest {
    @Test
    void S09_aSlowResolverDelaysNobody() throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        AttemptRequest.Host host = new AttemptRequest.Host(Optional.empty(), () -> {
            answers.await();
            return "resolved";
        });
        assertThat(host.name()).isEqualTo("unknown");
        answers.countDown();
        while (!host.name().equals("resolved")) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @Test
    void S09_theResolverIsNotAskedWhereTheSystemKnowsTheName() {
        CountDownLatch asked = new CountDownLatch(1);
        AttemptRequest.Host host = new AttemptRequest.Host(Optional.of("known"), () -> {
            asked.countDown();
            return "resolved";
        });
        assertThat(host.name()).isEqualTo("known");
        assertThat(asked.getCount()).isOne();
    }
}
