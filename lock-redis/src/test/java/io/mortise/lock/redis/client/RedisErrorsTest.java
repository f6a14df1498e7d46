// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.ClientClosedException;
import io.mortise.lock.LockException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.util.concurrent.CompletionException;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedisErrorsTest {
    private static LockException of(Throwable failure) {
        return RedisErrors.of(failure, "acquire of lock \"x\"", "redis://h:6379");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LOADING Redis is loading the dataset in memory",
                "READONLY You can't write against a read only replica. script: ab, on @user_script:25.",
                "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
                "BUSY Redis is busy running a script.",
                "OOM command not allowed when used memory > 'maxmemory'.",
                "MISCONF Redis is configured to save RDB snapshots",
                "NOREPLICAS Not enough good replicas to write.",
                "CLUSTERDOWN The cluster is down",
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "ERR max number of clients reached",
                "ERR Error running script (call to f_0123): @user_script:7: @user_script: 7: -OOM command not allowed"
            })
    void S15_temporaryErrorsAreUnavailable(String answer) {
        assertThat(of(new CompletionException(new RedisCommandExecutionException(answer))))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("redis://h:6379")
                .hasMessageContaining("acquire of lock \"x\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "NOAUTH Authentication required.",
                "WRONGPASS invalid username-password pair or user is disabled.",
                "NOPERM this user has no permissions to run the 'evalsha' command",
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "ERR DB index is out of range",
                "ERR unknown command"
            })
    void S15_permanentErrorsAreRefused(String answer) {
        assertThat(of(new RedisConnectionException("no", new RedisCommandExecutionException(answer))))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining(answer)
                .hasMessageNotContaining("..")
                .hasMessageContaining("redis://h:6379");
    }

    @Test
    void S15_noConnectionIsUnavailableAndUntrustedTlsIsRefused() {
        assertThat(of(new RedisException("Currently not connected. Commands are rejected.")))
                .isInstanceOf(BackendUnavailableException.class);
        assertThat(of(new RedisConnectionException("no", new SSLHandshakeException("unknown certificate"))))
                .isInstanceOf(BackendRefusedException.class)
                .hasMessageContaining("TLS");
        assertThat(of(new RedisConnectionException("no", new SslHandshakeTimeoutException("after 1000 ms"))))
                .isInstanceOf(BackendUnavailableException.class);
    }

    @Test
    void aKeyOfAnotherApplicationIsExplained() {
        assertThat(of(new RedisCommandExecutionException("WRONGTYPE Operation against a key")))
                .hasMessageContaining("another application")
                .hasMessageNotContaining("ACL");
        assertThat(of(new RedisCommandExecutionException(
                        "ERR Error running script (call to f_01): @user_script:50: WRONGTYPE Operation against a key")))
                .hasMessageContaining("another application");
    }

    @ParameterizedTest
    @CsvSource({
        "NOAUTH Authentication required., put USER:PASSWORD@ before the host",
        "WRONGPASS invalid username-password pair or user is disabled., Check the user and the password",
        "NOPERM this user has no permissions to run the evalsha command, Give the user this permission",
        "CROSSSLOT Keys in request do not hash to the same slot, use redis-cluster://",
        "ERR This instance has cluster support disabled, use redis://",
        "ERR unknown command EVALSHA, renamed or disabled",
        "ERR DB index is out of range, the database"
    })
    void aPermanentErrorSaysWhatToDo(String answer, String advice) {
        assertThat(of(new RedisCommandExecutionException(answer))).hasMessageContaining(advice);
    }

    @Test
    void aLockExceptionStaysUnchanged() {
        ClientClosedException closed = new ClientClosedException("closed");
        assertThat(of(new CompletionException(closed))).isSameAs(closed);
    }
}
