// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which children of a lock node are queued, and in which order. */
class ContenderNodeTest {
    private static final String ID = "0123456789abcdef0123456789abcdef";

    /** Returns a node name as the server's PrepRequestProcessor formats it. */
    private static String node(int sequence) {
        return ContenderNode.prefix(ID) + String.format(Locale.ENGLISH, "%010d", sequence);
    }

    private static List<Integer> sequences(List<ContenderNode> queue) {
        return queue.stream().map(ContenderNode::sequence).toList();
    }

    @Test
    void S12_onlyTheSequenceNumberDeterminesTheOrder() {
        List<String> children = List.of("zz-lock-0000000002", "aa-lock-0000000010", "mm-lock-0000000001");
        assertThat(ContenderNode.queue(children))
                .extracting(ContenderNode::name)
                .containsExactly("mm-lock-0000000001", "zz-lock-0000000002", "aa-lock-0000000010");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 999_999_999, Integer.MAX_VALUE, Integer.MIN_VALUE, -1, -5, -999_999_999, -1_000_000_000})
    void everySequenceNumberOfTheServerIsParsed(int sequence) {
        assertThat(ContenderNode.parse(node(sequence))).contains(new ContenderNode(node(sequence), sequence));
    }

    @Test
    void S01_sequenceNumbersThatTheServerMayRepeatAreLastAndOfUncertainOrder() {
        List<Integer> order = List.of(0, 1, 2_146_435_070, 2_146_435_071, Integer.MAX_VALUE, Integer.MIN_VALUE, -1);
        List<String> children = order.stream().map(ContenderNodeTest::node).collect(Collectors.toList());
        Collections.reverse(children);
        List<ContenderNode> queue = ContenderNode.queue(children);
        assertThat(sequences(queue)).isEqualTo(order);
        assertThat(queue.stream().filter(ContenderNode::hasUncertainOrder))
                .extracting(ContenderNode::sequence)
                .containsExactly(2_146_435_071, Integer.MAX_VALUE, Integer.MIN_VALUE, -1);
    }

    @Test
    void nodesOfCuratorsMutexAreQueued() {
        String curator = "_c_5f8ad2ce-2b28-4a0e-9c3f-0f6ef8b8a3d2-lock-0000000001";
        String plain = "lock-0000000000";
        assertThat(ContenderNode.queue(List.of(node(2), curator, plain)))
                .extracting(ContenderNode::name)
                .containsExactly(plain, curator, node(2));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "lock-",
                "lock-1",
                "lock-00000000012",
                "lock-000000000a",
                "lock-0000000001x",
                "lock-+000000001",
                "lock-9999999999", // beyond 32 bits
                "lock--3000000000",
                "_c_5f8ad2ce-2b28-4a0e-9c3f-0f6ef8b8a3d2-__WRIT__0000000001",
                "LOCK-0000000001",
                "lock-٠٠٠٠٠٠٠٠٠١", // not ASCII digits
                "lease-0000000001",
            })
    void childrenOfOtherKindsAreIgnored(String node) {
        assertThat(ContenderNode.parse(node)).isEmpty();
        assertThat(ContenderNode.queue(List.of(node, node(3)))).hasSize(1);
    }

    @Test
    void hostileNamesAreParsedLiterally() {
        List<String> hostile = List.of("lock-lock-0000000007", "a\nb\u0000-lock-0000000008", "%00%2F-lock-0000000009");
        assertThat(sequences(ContenderNode.queue(hostile))).containsExactly(7, 8, 9);
        assertThat(ContenderNode.parse("lock-".repeat(100_000))).isEmpty(); // must take linear time
    }

    @Test
    void aLockNodeWithoutChildrenHasAnEmptyQueue() {
        assertThat(ContenderNode.queue(List.of())).isEmpty();
    }
}
