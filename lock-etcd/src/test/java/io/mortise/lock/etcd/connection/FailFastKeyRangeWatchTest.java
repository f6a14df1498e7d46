// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.etcd.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Maintenance;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchResponse;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.testing.ManualClock;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Opens watches on a client that was closed meanwhile. */
class FailFastKeyRangeWatchTest {
    private final ManualClock clock = new ManualClock();
    private final BackendContext context =
            proxy(BackendContext.class, (proxy, method, arguments) -> switch (method.getName()) {
                case "clock" -> clock;
                case "connectTimeout", "requestTimeout" -> Duration.ofSeconds(5);
                case "blocking" -> (Executor) Runnable::run;
                default -> throw new UnsupportedOperationException(method.getName());
            });
    private final EtcdFailoverConnection connection = new EtcdFailoverConnection(
            new EtcdSettings(
                    List.of(),
                    Optional.of(proxy(Client.class, this::onClosedClient)),
                    "mortise/",
                    Duration.ofSeconds(15),
                    Optional.empty(),
                    Optional.empty(),
                    List.of()),
            context);
    private final EtcdRequestSender requests = new EtcdRequestSender(connection, context);
    private Watch.@Nullable Listener opened;
    private boolean completesOnClose;
    private int watchClients;

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** As jetcd's client and its watcher do if the client is closed after the watch has checked that it is open. */
    private @Nullable Object onClosedClient(Object proxy, Method method, Object[] arguments) {
        return switch (method.getName()) {
            case "getKVClient" -> proxy(KV.class, this::onClosedClient);
            case "getLeaseClient" -> proxy(Lease.class, this::onClosedClient);
            case "getMaintenanceClient" -> proxy(Maintenance.class, this::onClosedClient);
            case "getWatchClient" -> {
                watchClients++;
                yield proxy(Watch.class, this::onClosedClient);
            }
            case "watch" -> {
                opened = (Watch.Listener) arguments[2];
                yield proxy(Watch.Watcher.class, this::onClosedClient);
            }
            case "isClosed" -> true;
            case "close" -> {
                if (completesOnClose) {
                    Objects.requireNonNull(opened).onCompleted();
                }
                yield null;
            }
            default -> throw new UnsupportedOperationException(method.getName());
        };
    }

    @BeforeEach
    void open() {
        connection.open();
    }

    private List<Throwable> endsOfAWatch() {
        List<Throwable> ends = new ArrayList<>();
        FailFastKeyRangeWatch.open(
                requests, ByteSequence.EMPTY, WatchOption.builder(), new FailFastKeyRangeWatch.Listener() {
                    @Override
                    public void created() {}

                    @Override
                    public void changed(WatchResponse events) {}

                    @Override
                    public void ended(Throwable cause) {
                        ends.add(cause);
                    }
                });
        return ends;
    }

    @Test
    void S07_aWatchOfAClosedClientEndsAlthoughTheClientReportsNothing() {
        assertThat(endsOfAWatch()).hasSize(1);
    }

    @Test
    void S07_aWatchOfAClosedClientEndsOnceIfTheClientReportsItToo() {
        completesOnClose = true;
        assertThat(endsOfAWatch()).hasSize(1);
    }

    /** A closed jetcd client would create another one, with a thread that nobody ends. */
    @Test
    void S17_aWatchUsesTheWatchClientThatTheConnectionHasCreated() {
        endsOfAWatch();
        assertThat(watchClients).isEqualTo(1);
    }
}
