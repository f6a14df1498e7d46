// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PeersPageTest {
    /** The kit grows, so a peer that was run long ago has passed fewer tests than one that was run today. */
    @Test
    void thePageSaysWhenEachPeerWasRunAndOnHowManyTests() {
        List<Peer> peers = Peers.all().subList(0, 3);
        TestRecord passed = new TestRecord("S01_x", "", TestRecord.Status.PASSED, "", 1, 0, List.of());
        Map<Peer, List<TestRecord>> results = new LinkedHashMap<>();
        results.put(peers.get(0), List.of(passed));
        results.put(peers.get(1), List.of(passed));
        results.put(peers.get(2), List.of());
        String page = new PeersPage(results, Map.of(peers.get(0), "2026-11-25", peers.get(1), "")).markdown();
        assertThat(page.lines().filter(line -> line.contains("| " + peers.get(0).version() + " |")))
                .anyMatch(line ->
                        line.contains("`" + peers.get(0).id() + "`") && line.contains("| 2026-11-25, 1 tests |"))
                .anyMatch(line -> line.contains("`" + peers.get(1).id() + "`") && line.contains("| a part, 1 tests |"))
                .anyMatch(line -> line.contains("`" + peers.get(2).id() + "`") && line.contains("| not run |"));
    }
}
