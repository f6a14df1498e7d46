// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.RedlockVoteSummary.Instance;
import io.mortise.lock.redlock.RedlockVoteSummary.Vote;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Tests the text of {@link RedlockVoteSummary} for logs. */
class RedlockVoteSummaryTest {
    private static Instance master(int number, Vote vote, String error) {
        return new Instance(
                "redis://h" + number + ":6379", vote, Optional.of(error).filter(why -> !why.isEmpty()));
    }

    private final RedlockVoteSummary summary = new RedlockVoteSummary(List.of(
            master(1, Vote.ACQUIRED, ""),
            master(2, Vote.FAILED, "no answer from redis://h2:6379 in 500 ms"),
            master(3, Vote.CONFLICTED, ""),
            master(4, Vote.FAILED, "not connected"),
            master(5, Vote.FAILED, "it lags")));

    @Test
    void toStringNamesAllMasters() {
        assertThat(summary)
                .hasToString(
                        "redis://h1:6379 ACQUIRED; redis://h2:6379 FAILED (no answer from redis://h2:6379 in 500 ms);"
                                + " redis://h3:6379 CONFLICTED; redis://h4:6379 FAILED (not connected); redis://h5:6379 FAILED (it lags)");
    }
}
