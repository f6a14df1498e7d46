// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.memory.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.ElectionListener;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermEnd;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests that {@code docs/leader-election.md} shows code of this package, and that the code works. */
class LeaderElectionPageTest {
    private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)\n```", Pattern.DOTALL);

    private final LockClient locks = Locks.connect("memory:" + UUID.randomUUID(), ClientOptions.defaults());
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void thePageShowsTheCodeOfThisPackage() throws Exception {
        String code = withoutSpace(
                Files.readString(Path.of("src/test/java/io/mortise/lock/memory/page/LeaderElectionSnippets.java")));
        List<String> blocks = BLOCK.matcher(Files.readString(Path.of("../docs/leader-election.md")))
                .results()
                .map((MatchResult found) -> found.group(1))
                .toList();
        assertThat(blocks).hasSize(4).allSatisfy(block -> assertThat(code).contains(withoutSpace(block)));
    }

    private static String withoutSpace(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void theLeaderWritesWithItsEpoch() throws Exception {
        BlockingQueue<String> jobs = new LinkedBlockingQueue<>(List.of("report"));
        try (Election election =
                LeaderElectionSnippets.start(locks, jobs, (job, epoch) -> events.add(job + " " + (epoch > 0)))) {
            assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("report true");
            assertThat(election.isLeading()).isTrue();
        }
        assertThat(locks.named("scheduler").tryAcquire()).isPresent();
    }

    @Test
    void aStopCallbackEndsABlockingCall() throws Exception {
        ElectionListener listener = new ElectionListener() {
            @Override
            public void elected(Term term) {
                events.add("elected");
            }

            @Override
            public void ended(Term term, TermEnd end) {
                events.add(end);
            }

            @Override
            public void failed(Throwable failure) {
                events.add(failure);
            }
        };
        try (Election election = LeaderElectionSnippets.options(locks, listener)) {
            assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("elected");
            assertThat(LeaderElectionSnippets.leader(election)).isEqualTo("a");
        }
        assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo(TermEnd.CLOSED);
        assertThat(events).isEmpty();
    }
}
