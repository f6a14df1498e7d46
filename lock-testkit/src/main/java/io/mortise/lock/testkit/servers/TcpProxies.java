// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The lines of one client to several servers of this machine, which break together. Thread-safe. */
public final class TcpProxies implements Line {
    private final List<TcpProxy> all;

    private TcpProxies(List<TcpProxy> all) {
        this.all = all;
    }

    /** One to each port, in that order. */
    public static TcpProxies to(List<Integer> ports) {
        List<TcpProxy> all = new ArrayList<>();
        ports.forEach(port -> all.add(TcpProxy.to("127.0.0.1", port)));
        return new TcpProxies(List.copyOf(all));
    }

    /** Each of them, to break it alone. */
    public List<TcpProxy> all() {
        return all;
    }

    private void each(Consumer<TcpProxy> what) {
        all.forEach(what);
    }

    @Override
    public void blackHole() {
        each(TcpProxy::blackHole);
    }

    @Override
    public void cut() {
        each(TcpProxy::cut);
    }

    /** The next one of each. */
    @Override
    public void dropNextReply() {
        each(TcpProxy::dropNextReply);
    }

    @Override
    public void delay(Duration oneWay) {
        each(line -> line.delay(oneWay));
    }

    @Override
    public void heal() {
        each(TcpProxy::heal);
    }

    @Override
    public void close() {
        each(TcpProxy::close);
    }
}
