// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.servers.redis.RawRedis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests scripts that fail halfway, which Redis does not roll back. No client may be notified of a grant that was not written
 * (S1).
 */
class HalfWrittenTest extends RedisLockScriptTest {
    @AfterEach
    void resetMemoryLimit() {
        fixture.redis.call("CONFIG", "SET", "maxmemory", "0");
    }

    @Test
    void S01_aGrantThatCannotBeWrittenIsNotPublished() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        assertThat(publishedWhile(
                        () -> assertThatThrownBy(() -> releaseWithout("set")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(fixture.value()).as("still the holder's").startsWith(ScriptFixture.record(1));
        assertThat(fixture.published(() -> fixture.release(1)).get(0))
                .as("an entry that was not served is kept")
                .startsWith("c2 G " + ScriptFixture.attempt(2));
    }

    @Test
    void S01_aLockThatCannotBeFreedWakesNoWaiter() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.redis.call(
                "SET",
                ScriptFixture.KEYS.grant(),
                ScriptFixture.record(1) + " token=7 row=16:" + fixture.micros(),
                "PX",
                "9000");
        assertThat(publishedWhile(
                        () -> assertThatThrownBy(() -> releaseWithout("del")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(fixture.value()).startsWith(ScriptFixture.record(1));
    }

    @Test
    void S11_aGrantThatCannotBePublishedIsFoundByItsHolder() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        assertThatThrownBy(() -> releaseWithout("publish")).isInstanceOf(RawRedis.ErrorReply.class);
        assertThat(fixture.acquire(2, "c2").get(0)).isEqualTo("granted");
        assertThat(fixture.acquire(3, "c3").get(0)).isEqualTo("busy");
    }

    @Test
    void S01_nothingIsReleasedIfSubscribersCannotBeCounted() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        assertThat(publishedWhile(() ->
                        assertThatThrownBy(() -> releaseWithout("pubsub")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(fixture.value()).startsWith(ScriptFixture.record(1));
        assertThat(fixture.published(() -> fixture.release(1)).get(0)).startsWith("c2 G " + ScriptFixture.attempt(2));
    }

    /** A forced release by an operator, and the release of a hand-off by a client that no longer needs it. */
    @Test
    void S11_withoutMemoryALockIsStillForceReleasedAndHandedOff() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.acquire(3, fixture.listen("c3"));
        fixture.redis.call("CONFIG", "SET", "maxmemory", "1");
        assertThat(fixture.published(() -> fixture.run(RedisLockScript.FORCE_RELEASE, fixture.value()))
                        .get(0))
                .startsWith("c2 G " + ScriptFixture.attempt(2));
        assertThat(fixture.published(
                                () -> fixture.run(RedisLockScript.RELEASE, ScriptFixture.attempt(2), "0", " mode=x"))
                        .get(0))
                .startsWith("c3 G " + ScriptFixture.attempt(3));
    }

    @Test
    void S01_withoutMemoryALockIsStillHandedOffCompletely() {
        fixture.granted(1);
        fixture.acquire(2, fixture.listen("c2"));
        fixture.redis.call("CONFIG", "SET", "maxmemory", "1");
        assertThat(publishedWhile(() -> fixture.release(1)).get(0)).startsWith("c2 G " + ScriptFixture.attempt(2));
        assertThat(fixture.value()).startsWith(ScriptFixture.record(2));
        assertThatThrownBy(() -> fixture.acquire(3, "c3")).hasMessageContaining("OOM");
        assertThat(fixture.redis.call("EXISTS", ScriptFixture.KEYS.queue())).isEqualTo(0L);
    }

    @Test
    void S17_nothingIsGrantedToAnEntryWithoutASubscriber() {
        fixture.granted(1);
        fixture.acquire(2, "nobody-listens");
        fixture.redis.call("DEL", ScriptFixture.KEYS.grant());
        assertThat(fixture.acquire(3, "").get(0)).isEqualTo("granted");
        assertThat(fixture.value()).startsWith(ScriptFixture.record(3));
    }

    /** Returns what was published during the work, even if it throws. */
    private static List<String> publishedWhile(ThrowingCallable work) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        List<String> published = fixture.published(() -> {
            try {
                work.call();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        assertThat(thrown.get()).isNull();
        return published;
    }

    /** Releases attempt 1 as a user who may run all commands except one. */
    private static void releaseWithout(String command) {
        fixture.redis.call("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all", "-" + command);
        try (RawRedis limited = fixture.connect("limited", "secret")) {
            List<String> call = new ArrayList<>(
                    List.of("EVAL", RedisLockScript.RELEASE.script().text(), "4"));
            call.addAll(Arrays.asList(ScriptFixture.KEYS.all()));
            call.addAll(List.of(ScriptFixture.attempt(1), "0"));
            limited.call(call.toArray(String[]::new));
        }
    }
}
