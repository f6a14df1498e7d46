// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.LockHolder;
import io.mortise.lock.LossReason;
import io.mortise.lock.spi.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@link OwnerRecordCodec}, {@link LockClock#deadline}, {@link ManualClock} and {@link GrantValidity}. */
class SpiValueTypesTest {
    private static final String ATTEMPT = "0123456789abcdef0123456789abcdef";

    @Test
    void parseRevertsEncode() {
        Instant since = Instant.parse("2024-01-02T03:04:05.678Z");
        Map<String, String> metadata = Map.of("k e=y", "v %\n=é", "b", "");
        String raw = OwnerRecordCodec.encode(ATTEMPT, "host one", 42, since, metadata);
        assertThat(raw).startsWith(ATTEMPT + " m1 ").doesNotContain("\n");
        LockHolder holder = OwnerRecordCodec.parse(raw, OptionalLong.of(7));
        assertThat(holder.owner()).contains(ATTEMPT);
        assertThat(holder.host()).contains("host one");
        assertThat(holder.pid()).hasValue(42);
        assertThat(holder.since()).contains(since);
        assertThat(holder.metadata()).isEqualTo(metadata);
        assertThat(holder.token()).hasValue(7);
        assertThat(holder.isForeign()).isFalse();
    }

    /** The codec keeps the latest second, so each of these differs from the one before in another way. */
    @Test
    void S18_theTimeOfARequestIsExactToTheMillisecond() {
        for (String time : List.of(
                "2024-01-02T03:04:05.678Z",
                "2024-01-02T03:04:05.007Z",
                "2024-01-02T03:04:05Z",
                "2024-01-02T03:05:00.09Z",
                "2024-01-02T03:04:05.999Z",
                "1969-12-31T23:59:59.5Z")) {
            Instant since = Instant.parse(time);
            String raw = OwnerRecordCodec.encode(ATTEMPT, "h", 42, since.plusNanos(999_999), Map.of());
            assertThat(OwnerRecordCodec.parse(raw, OptionalLong.empty()).since())
                    .contains(since);
        }
    }

    @Test
    void S05_aKeptGrantNamesItsLastOwner() {
        String raw = "~" + OwnerRecordCodec.encode(ATTEMPT, "h", 42, Instant.EPOCH, Map.of("k", "v"));
        LockHolder holder = OwnerRecordCodec.parse(raw, OptionalLong.of(7));
        assertThat(holder.owner()).contains(ATTEMPT);
        assertThat(holder.host()).contains("h");
        assertThat(holder.metadata()).isEqualTo(Map.of("k", "v"));
        assertThat(holder.raw()).as("as stored, for a forced release").isEqualTo(raw);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "~",
                "~~" + ATTEMPT + " m1 x",
                "hello",
                "0123",
                ATTEMPT,
                ATTEMPT + " m10 x",
                "G" + ATTEMPT,
                ATTEMPT + "m1"
            })
    void S19_textOfAnotherFormatIsAForeignHolder(String raw) {
        LockHolder holder = OwnerRecordCodec.parse(raw, OptionalLong.empty());
        assertThat(holder.isForeign()).isTrue();
        assertThat(holder.raw()).isEqualTo(raw);
    }

    @ParameterizedTest
    @ValueSource(strings = {" pid=x since=y host=%zz", " = =x meta.=y meta.%F=%", " pid=99999999999999999999", "   "})
    void S19_hostileFieldsAreNoError(String fields) {
        assertThat(OwnerRecordCodec.parse(ATTEMPT + " m1" + fields, OptionalLong.empty())
                        .owner())
                .contains(ATTEMPT);
    }

    @Test
    void S02_theDeadlineCountsFromTheRequestAndIsEarlyByOnePercentAndTwoMilliseconds() {
        assertThat(LockClock.deadline(new MonotonicInstant(5), Duration.ofSeconds(10)))
                .isEqualTo(new MonotonicInstant(5 + 9_898_000_000L));
        MonotonicInstant nearOverflow = new MonotonicInstant(Long.MAX_VALUE - 5);
        assertThat(nearOverflow.until(LockClock.deadline(nearOverflow, Duration.ofSeconds(10))))
                .isEqualTo(Duration.ofMillis(9_898));
    }

    @Test
    void manualClockRunsTimersInOrderAndSkipsCancelledOnes() {
        ManualClock clock = new ManualClock();
        List<String> ran = new ArrayList<>();
        clock.schedule(Duration.ofMillis(20), () -> ran.add("b" + clock.now().nanos()));
        LockClock.Timer victim = clock.schedule(Duration.ofMillis(30), () -> ran.add("victim"));
        clock.schedule(Duration.ofMillis(10), () -> {
            ran.add("a" + clock.now().nanos());
            victim.cancel();
        });
        assertThat(clock.untilNextTimer()).contains(Duration.ofMillis(10));
        clock.advance(Duration.ofMillis(25));
        assertThat(ran).containsExactly("a10000000", "b20000000");
        assertThat(clock.timerCount()).isZero();
        assertThat(clock.now()).isEqualTo(new MonotonicInstant(25_000_000));
    }

    @Test
    void manualClockJumpRunsTimersLateAndSkipsCancelledOnes() {
        ManualClock clock = new ManualClock();
        List<String> ran = new ArrayList<>();
        LockClock.Timer victim = clock.schedule(Duration.ofMillis(2), () -> ran.add("victim"));
        clock.schedule(Duration.ofMillis(1), () -> {
            ran.add("a" + clock.now().nanos());
            victim.cancel();
        });
        clock.advanceWithoutTimers(Duration.ofMillis(4));
        assertThat(ran).isEmpty();
        assertThat(clock.untilNextTimer()).contains(Duration.ZERO);
        clock.advanceThenRunTimers(Duration.ofMillis(1));
        assertThat(ran).containsExactly("a5000000");
    }

    private static final class Grant extends GrantValidity {
        final List<String> events = new ArrayList<>();

        Grant(LockClock clock, MonotonicInstant until) {
            super(clock, Duration.ofMillis(10), until);
        }

        @Override
        protected void onLost(LossReason reason) {
            events.add("backend " + reason.kind());
        }
    }

    private static LossReason because(LossReason.Kind kind) {
        return new LossReason(kind, "test");
    }

    @Test
    void S06_aReplyAfterTheCurrentDeadlineDoesNotCount() {
        ManualClock clock = new ManualClock();
        Grant grant = new Grant(clock, new MonotonicInstant(30_000_000));
        assertThat(grant.attach(reason -> grant.events.add("core " + reason.kind())))
                .isTrue();
        assertThat(grant.extend(new MonotonicInstant(20_000_000))).isTrue();
        assertThat(grant.validUntil()).as("only ever later").isEqualTo(new MonotonicInstant(30_000_000));
        clock.advanceWithoutTimers(Duration.ofMillis(30));
        assertThat(grant.isValid()).isFalse();
        assertThat(grant.extend(new MonotonicInstant(90_000_000))).isFalse();
        assertThat(grant.isValid()).isFalse();
        assertThat(grant.events).containsExactly("core EXPIRED", "backend EXPIRED");
    }

    @Test
    void S06_S07_theFirstLossCountsAndIsAnnouncedOnce() {
        Grant grant = new Grant(new ManualClock(), new MonotonicInstant(30_000_000));
        assertThat(grant.attach(reason -> grant.events.add("core " + reason.kind())))
                .isTrue();
        grant.lost(because(LossReason.Kind.REMOVED));
        grant.lost(because(LossReason.Kind.EXPIRED));
        assertThat(grant.extend(new MonotonicInstant(90_000_000))).isFalse();
        assertThat(grant.reason()).contains(because(LossReason.Kind.REMOVED));
        assertThat(grant.events).containsExactly("core REMOVED", "backend REMOVED");
        assertThat(grant.attach(reason -> {})).isFalse();
    }

    @Test
    void S07_anUnknownOutcomeNeverExtends() {
        ManualClock clock = new ManualClock();
        Grant grant = new Grant(clock, new MonotonicInstant(30_000_000));
        grant.renewalUnknown(new IllegalStateException());
        assertThat(grant.validUntil()).isEqualTo(new MonotonicInstant(30_000_000));
        clock.advanceWithoutTimers(Duration.ofMillis(30));
        assertThat(grant.checkDeadline()).isFalse();
    }
}
