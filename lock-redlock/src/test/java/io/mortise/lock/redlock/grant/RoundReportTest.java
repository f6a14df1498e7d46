// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redlock.grant;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.redlock.vote.MasterVote;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the error message of {@link RoundReport} for a round without a quorum. */
class RoundReportTest {
    private static RoundReport.MasterReport master(int number, MasterVote vote) {
        return new RoundReport.MasterReport("redis://h" + number + ":6379", vote);
    }

    private static MasterVote failed(String message) {
        return new MasterVote.Failed(new Exception(message), true);
    }

    @Test
    void S15_noQuorumMessageNamesEachFailedMasterWithItsReason() {
        RoundReport report = new RoundReport(List.of(
                master(1, new MasterVote.Granted(1)),
                master(2, failed("no answer from redis://h2:6379 in 500 ms")),
                master(3, new MasterVote.Conflicted("other", 10, 0)),
                master(4, failed("not connected")),
                master(5, failed("it lags"))));
        assertThat(report.noQuorumMessage())
                .isEqualTo("no quorum: 2 of 5 masters answered, these did not: redis://h2:6379 (no answer in 500 ms),"
                        + " redis://h4:6379 (not connected), redis://h5:6379 (it lags)");
    }
}
