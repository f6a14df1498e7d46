// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.zookeeper.session;

import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LockClock;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** A ZooKeeper handle without a server, which completes each request at once on the calling thread. */
public class StubZooKeeper extends ZooKeeper {
    static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Executor UNUSED = task -> {
        throw new UnsupportedOperationException();
    };

    /** The nodes whose deletion was requested. */
    public final List<String> deleted = new ArrayList<>();

    /** The result of the next deletions. */
    public Code deletion = Code.OK;

    /** Creates the handle without opening a connection. */
    public StubZooKeeper() throws IOException {
        super("127.0.0.1:1", Math.toIntExact(TIMEOUT.toMillis()), event -> {});
    }

    /** Returns a session on this handle. */
    public ZooKeeperSession session(LockClock clock) {
        return ZooKeeperSession.start(settings(), context(clock, UNUSED));
    }

    /** Returns the sessions of a client on this handle. */
    public ZooKeeperSessionManager sessions(LockClock clock) {
        return new ZooKeeperSessionManager(settings(), context(clock, UNUSED));
    }

    private ZooKeeperSettings settings() {
        return new ZooKeeperSettings(
                Optional.empty(),
                Optional.of(() -> this),
                "/locks",
                TIMEOUT,
                ZooDefs.Ids.OPEN_ACL_UNSAFE,
                List.of(),
                Optional.empty());
    }

    /** Returns a stub that renews nothing, and whose requests have no timeout. */
    static BackendContext context(LockClock clock, Executor blocking) {
        return (BackendContext) Proxy.newProxyInstance(
                StubZooKeeper.class.getClassLoader(),
                new Class<?>[] {BackendContext.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "clock" -> clock;
                    case "clientId" -> "0123456789abcdef";
                    case "register" -> null;
                    case "blocking" -> blocking;
                    case "requestTimeout" -> Duration.ofSeconds(5);
                    case "withRequestTimeout" -> arguments[1];
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    @Override
    public int getSessionTimeout() {
        return Math.toIntExact(TIMEOUT.toMillis());
    }

    @Override
    public void addWatch(
            String path, Watcher watcher, AddWatchMode mode, AsyncCallback.VoidCallback callback, Object context) {
        callback.processResult(Code.OK.intValue(), path, context);
    }

    @Override
    public void sync(String path, AsyncCallback.VoidCallback callback, Object context) {
        callback.processResult(Code.OK.intValue(), path, context);
    }

    @Override
    public void delete(String path, int version, AsyncCallback.VoidCallback callback, Object context) {
        deleted.add(path);
        callback.processResult(deletion.intValue(), path, context);
    }
}
