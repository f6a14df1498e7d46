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

/** A script that fails half way, which Redis does not roll back: nobody is told of a grant that was not written (S1). */
class HalfWrittenTest extends RedisScriptTest {
    @AfterEach
    void giveMemoryBack() {
        bench.redis.call("CONFIG", "SET", "maxmemory", "0");
    }

    @Test
    void S01_aGrantThatCannotBeWrittenIsToldToNobody() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        assertThat(publishedWhile(
                        () -> assertThatThrownBy(() -> releaseWithout("set")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(bench.value()).as("still the holder's").startsWith(ScriptBench.record(1));
        assertThat(bench.published(() -> bench.release(1)).get(0))
                .as("an entry that was not served is kept")
                .startsWith("c2 G " + ScriptBench.attempt(2));
    }

    @Test
    void S01_aLockThatCannotBeFreedIsOfferedToNobody() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.redis.call(
                "SET",
                ScriptBench.KEYS.grant(),
                ScriptBench.record(1) + " token=7 row=16:" + bench.micros(),
                "PX",
                "9000");
        assertThat(publishedWhile(
                        () -> assertThatThrownBy(() -> releaseWithout("del")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(bench.value()).startsWith(ScriptBench.record(1));
    }

    @Test
    void S11_aGrantThatCannotBeToldStandsForItsHolderToFind() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        assertThatThrownBy(() -> releaseWithout("publish")).isInstanceOf(RawRedis.ErrorReply.class);
        assertThat(bench.acquire(2, "c2").get(0)).isEqualTo("granted");
        assertThat(bench.acquire(3, "c3").get(0)).isEqualTo("busy");
    }

    @Test
    void S01_whereNobodyCanBeCountedNothingIsReleased() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        assertThat(publishedWhile(() ->
                        assertThatThrownBy(() -> releaseWithout("pubsub")).isInstanceOf(RawRedis.ErrorReply.class)))
                .isEmpty();
        assertThat(bench.value()).startsWith(ScriptBench.record(1));
        assertThat(bench.published(() -> bench.release(1)).get(0)).startsWith("c2 G " + ScriptBench.attempt(2));
    }

    /** As an operator does, and a client that was given a turn which it does not want. */
    @Test
    void S11_withoutMemoryALockIsStillTakenAwayAndHandedOn() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.acquire(3, bench.listen("c3"));
        bench.redis.call("CONFIG", "SET", "maxmemory", "1");
        assertThat(bench.published(() -> bench.run(RedisScript.FORCE_RELEASE, bench.value()))
                        .get(0))
                .startsWith("c2 G " + ScriptBench.attempt(2));
        assertThat(bench.published(() -> bench.run(RedisScript.RELEASE, ScriptBench.attempt(2), "0", " mode=x"))
                        .get(0))
                .startsWith("c3 G " + ScriptBench.attempt(3));
    }

    @Test
    void S01_withoutMemoryALockIsStillHandedOnWhole() {
        bench.granted(1);
        bench.acquire(2, bench.listen("c2"));
        bench.redis.call("CONFIG", "SET", "maxmemory", "1");
        assertThat(publishedWhile(() -> bench.release(1)).get(0)).startsWith("c2 G " + ScriptBench.attempt(2));
        assertThat(bench.value()).startsWith(ScriptBench.record(2));
        assertThatThrownBy(() -> bench.acquire(3, "c3")).hasMessageContaining("OOM");
        assertThat(bench.redis.call("EXISTS", ScriptBench.KEYS.queue())).isEqualTo(0L);
    }

    @Test
    void S17_nothingIsGrantedWhereNobodyListens() {
        bench.granted(1);
        bench.acquire(2, "nobody-listens");
        bench.redis.call("DEL", ScriptBench.KEYS.grant());
        assertThat(bench.acquire(3, "").get(0)).isEqualTo("granted");
        assertThat(bench.value()).startsWith(ScriptBench.record(3));
    }

    /** Also when the work throws. */
    private static List<String> publishedWhile(ThrowingCallable work) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        List<String> published = bench.published(() -> {
            try {
                work.call();
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        assertThat(thrown.get()).isNull();
        return published;
    }

    /** The release of attempt 1 by a user who may do all but one thing. */
    private static void releaseWithout(String command) {
        bench.redis.call("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~*", "&*", "+@all", "-" + command);
        try (RawRedis limited = bench.connect("limited", "secret")) {
            List<String> call =
                    new ArrayList<>(List.of("EVAL", RedisScript.RELEASE.script().text(), "4"));
            call.addAll(Arrays.asList(ScriptBench.KEYS.all()));
            call.addAll(List.of(ScriptBench.attempt(1), "0"));
            limited.call(call.toArray(String[]::new));
        }
    }
}
