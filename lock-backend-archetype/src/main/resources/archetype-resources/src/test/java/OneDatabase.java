package ${package};

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.BackendClients;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.testkit.LinkedBackendUnderTest;
import io.mortise.lock.testkit.TestServerExtension;
import io.mortise.lock.testkit.proxy.TcpProxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** An empty database for one test, on the server of its class, behind a proxy for each client. */
final class OneDatabase extends LinkedBackendUnderTest<TcpProxy> {
    private final TestServerExtension<H2Server> server;
    private final String database = "/test-" + UUID.randomUUID();
    private final Map<TcpProxy, String> clientIds = new ConcurrentHashMap<>();

    OneDatabase(TestServerExtension<H2Server> server) {
        this.server = server;
    }

    @Override
    protected TcpProxy newLink() {
        String[] hostAndPort = server.address().split(":");
        return TcpProxy.to(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
    }

    @Override
    protected LockClient connect(TcpProxy link, ClientOptions options) {
        LockUrl url = LockUrl.parse("table://" + link.address() + database);
        return BackendClients.open(
                context -> {
                    clientIds.put(link, context.clientId());
                    return new TableProvider().open(url, context);
                },
                options);
    }

    /** A check of the pooled connection, and up to three statements, each prepared before it is executed. */
    @Override
    public int roundTripsPerCall() {
        return 8;
    }

    @Override
    public Optional<String> url() {
        return Optional.of("table://" + server.address() + database);
    }

    @Override
    public void deleteGrant(String lockName) {
        sql("DELETE FROM mortise_lock WHERE name = ?", new LockName(lockName).escaped());
    }

    @Override
    public void expireSession(LockClient client) {
        sql("UPDATE mortise_lock SET ends_at = CURRENT_TIMESTAMP WHERE client = ?", clientIds.get(link(client)));
    }

    @Override
    public void stopServer() {
        server.startedServer().stop();
    }

    @Override
    public void startServer() {
        server.startedServer().start();
    }

    /** Returns the names in the table, sorted. */
    List<String> names() {
        try (Connection connection = connection();
                PreparedStatement prepared =
                        connection.prepareStatement("SELECT name FROM mortise_lock ORDER BY name");
                ResultSet found = prepared.executeQuery()) {
            List<String> names = new ArrayList<>();
            while (found.next()) {
                names.add(found.getString(1));
            }
            return names;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private Connection connection() throws SQLException {
        return DriverManager.getConnection("jdbc:h2:tcp://" + server.address() + database, "sa", "");
    }

    /** Changes the table as an operator does, without Mortise. */
    void sql(String statement, String... parameters) {
        try (Connection connection = connection();
                PreparedStatement prepared = connection.prepareStatement(statement)) {
            for (int i = 0; i < parameters.length; i++) {
                prepared.setString(i + 1, parameters[i]);
            }
            prepared.executeUpdate();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
