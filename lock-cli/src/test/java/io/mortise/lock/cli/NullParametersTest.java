// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.lettuce.core.RedisURI;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.etcd.EtcdLocks;
import io.mortise.lock.etcd.EtcdOptions;
import io.mortise.lock.memory.MemoryLocks;
import io.mortise.lock.memory.MemoryStore;
import io.mortise.lock.redis.RedisLocks;
import io.mortise.lock.redis.RedisOptions;
import io.mortise.lock.redlock.RedlockLocks;
import io.mortise.lock.redlock.RedlockOptions;
import io.mortise.lock.zookeeper.ZooKeeperLocks;
import io.mortise.lock.zookeeper.ZooKeeperOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that all options and entry points reject null with an exception that names the parameter or the option. Rule S14.
 */
@SuppressWarnings("NullAway") // the tests pass null deliberately
class NullParametersTest {
    private static final Map<Class<?>, Object> OPTIONS = Map.of(
            ClientOptions.class, ClientOptions.defaults(),
            LockOptions.class, LockOptions.defaults(),
            RedisOptions.class, RedisOptions.connectTo(RedisURI.create("redis://h")),
            RedlockOptions.class,
                    RedlockOptions.connectTo(List.of(
                            RedisURI.create("redis://a"), RedisURI.create("redis://b"), RedisURI.create("redis://c"))),
            EtcdOptions.class, EtcdOptions.connectTo(List.of("h:1")),
            ZooKeeperOptions.class, ZooKeeperOptions.connectTo("h:1"));

    static Stream<Method> methods() {
        List<Class<?>> entryPoints = List.of(
                Locks.class,
                MemoryLocks.class,
                MemoryStore.class,
                RedisLocks.class,
                RedlockLocks.class,
                EtcdLocks.class,
                ZooKeeperLocks.class);
        return Stream.concat(OPTIONS.keySet().stream(), entryPoints.stream())
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
                .filter(method -> Arrays.stream(method.getParameterTypes()).anyMatch(type -> !type.isPrimitive()));
    }

    /** Returns a valid argument of a type, for the parameters that are not null. */
    private static Object argument(Class<?> type) {
        return OPTIONS.getOrDefault(
                type, type == String.class ? "memory:null" : type == byte[].class ? new byte[1] : null);
    }

    @ParameterizedTest
    @MethodSource("methods")
    void S14_nullIsRejectedWithTheNameOfTheParameter(Method method) throws Exception {
        Parameter[] parameters = method.getParameters();
        for (int i = 0; i < parameters.length; i++) {
            Object[] arguments = Arrays.stream(method.getParameterTypes())
                    .map(NullParametersTest::argument)
                    .toArray();
            arguments[i] = null;
            Throwable thrown = catchThrowable(() -> method.invoke(OPTIONS.get(method.getDeclaringClass()), arguments));
            assertThat(thrown)
                    .as("parameter %s", parameters[i].getName())
                    .isInstanceOf(InvocationTargetException.class);
            assertThat(thrown.getCause()).isInstanceOf(NullPointerException.class);
            assertThat(Stream.concat(
                                    Stream.of(method.getName()),
                                    Arrays.stream(parameters).map(Parameter::getName))
                            .collect(Collectors.toSet()))
                    .contains(thrown.getCause().getMessage());
        }
    }
}
