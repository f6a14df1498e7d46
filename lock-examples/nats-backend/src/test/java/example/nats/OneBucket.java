// SPDX-License-Identifier: Apache-2.0
package example.nats;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.TcpProxy;
import io.nats.client.Connection;
import io.nats.client.KeyValue;
import io.nats.client.Nats;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** An empty bucket for one test, on the server of its class, behind a proxy for each client. */
final class OneBucket extends LinkedBackendUnderTest<TcpProxy> {
    private final TestServerExtension<NatsServer> server;
    private final String bucket = "test-" + UUID.randomUUID();
    private final Map<TcpProxy, String> clientIds = new ConcurrentHashMap<>();

    OneBucket(TestServerExtension<NatsServer> server) {
        this.server = server;
    }

    @Override
    protected TcpProxy newLink() {
        String[] hostAndPort = server.address().split(":");
        return TcpProxy.to(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
    }

    @Override
    protected LockClient connect(TcpProxy link, ClientOptions options) {
        LockUrl url = LockUrl.parse("nats://" + link.address() + "/" + bucket);
        return BackendClients.open(
                context -> {
                    clientIds.put(link, context.clientId());
                    return new NatsProvider().open(url, context);
                },
                options);
    }

    /** A key is read before it is written. */
    @Override
    public int roundTripsPerCall() {
        return 2;
    }

    @Override
    public Optional<String> url() {
        return Optional.of("nats://" + server.address() + "/" + bucket);
    }

    @Override
    public void deleteGrant(String lockName) {
        use(locks -> locks.delete(NatsStore.key(new LockName(lockName))));
    }

    /** Writes a value that Mortise does not write. */
    void put(String lockName, String value) {
        use(locks -> locks.put(NatsStore.key(new LockName(lockName)), value));
    }

    @Override
    public void expireSession(LockClient client) {
        String id = clientIds.get(link(client));
        use(locks -> {
            for (String key : locks.keys()) {
                if (locks.get(key).getValueAsString().contains(" " + id + " ")) {
                    locks.delete(key);
                }
            }
        });
    }

    @Override
    public void stopServer() {
        server.startedServer().stop();
    }

    @Override
    public void startServer() {
        server.startedServer().start();
    }

    private interface Use {
        void with(KeyValue locks) throws Exception;
    }

    /** Uses the bucket as an operator does, without Mortise. */
    private void use(Use use) {
        try {
            Connection connection = Nats.connect("nats://" + server.address());
            try {
                use.with(connection.keyValue(bucket));
            } finally {
                connection.close();
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
