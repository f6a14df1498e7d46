// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class FailureExplanationsTest {
    /** An accusation without a reproduction by the peer's own API must not get into the page. */
    @Test
    void eachFailureIsReproducedByATestThatExists() throws Exception {
        List<FailureExplanation> failures = FailureExplanations.all().stream()
                .filter(each -> each.verdict() == Verdict.FAILED)
                .toList();
        assertThat(failures).isNotEmpty();
        for (FailureExplanation each : failures) {
            String[] test = each.reproduction().split("\\.", 2);
            Class<?> type = Class.forName(FailureExplanationsTest.class.getPackageName() + "." + test[0]);
            assertThat(type.getAnnotationsByType(Tag.class))
                    .extracting(Tag::value)
                    .containsExactly("peers");
            assertThat(Arrays.stream(type.getDeclaredMethods()).map(Method::getName))
                    .as(each.title())
                    .contains(test[1]);
            assertThat(each.text()).as(each.title()).isNotBlank();
        }
    }

    @Test
    void peersHaveDifferentNames() {
        Set<String> ids = new HashSet<>();
        assertThat(Peers.all())
                .allSatisfy(peer -> assertThat(ids.add(peer.id())).as(peer.id()).isTrue());
    }
}
